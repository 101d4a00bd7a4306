import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** A store that shows a file only some time after it was written (late:///folder). */
public class LateFileSystem extends RawLocalFileSystem {
  private static final long LATE_MS = Long.getLong("late.ms", 1500);

  @Override public String getScheme() { return "late"; }
  @Override public URI getUri() { return URI.create("late:///"); }
  @Override public void initialize(URI uri, Configuration conf) throws IOException {
    super.initialize(URI.create("late:///"), conf);
  }
  @Override protected void checkPath(Path path) { }

  private static boolean isHidden(FileStatus s) {
    return s.isFile() && !s.getPath().toString().contains("_temporary")
        && System.currentTimeMillis() - s.getModificationTime() < LATE_MS;
  }
  @Override public FileStatus[] listStatus(Path p) throws IOException {
    return Arrays.stream(super.listStatus(p)).filter(s -> !isHidden(s)).toArray(FileStatus[]::new);
  }
  @Override public FileStatus getFileStatus(Path p) throws IOException {
    FileStatus found = super.getFileStatus(p);
    if (isHidden(found)) throw new FileNotFoundException("File " + p + " does not exist (yet)");
    return found;
  }
  @Override public FSDataInputStream open(Path p, int size) throws IOException {
    getFileStatus(p);
    return super.open(p, size);
  }
}
