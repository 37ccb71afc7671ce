package lamprey.tests.random;

import java.util.ArrayList;
import java.util.List;

/** Statements, one after the other. */
final class Block {
    final List<Stmt> statements = new ArrayList<>();
}
