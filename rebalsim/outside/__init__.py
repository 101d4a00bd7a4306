"""The one door to the world outside: strangers' files read, files written, foreign text made inert.

Whoever reads something that rebalsim did not make itself comes through here, so that checked types,
bounded size and one sentence at the end are nobody's to forget:

    from rebalsim.outside.rule import taken_from
    from rebalsim.outside.files import read_text, read_lines
    from rebalsim.outside.documents import parse_json

    with taken_from(path):                       # whatever goes wrong inside is one InputError
        document = parse_json(read_text(path), path)

`files` opens regular files and pipes only, unpacks gzip within bounds, never waits for ever;
`documents` bounds depth, values and numbers before anything is built of them; `rule` turns every
error of a reader into a sentence and exit code 2; `writing` replaces regular files only, in one
step; `text` is for everything that was somebody else's and is shown to a person or a log.
"""
