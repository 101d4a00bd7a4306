"""What those who build rebalsim need, and its users never: `rebalsim dev …`, a file a command."""
