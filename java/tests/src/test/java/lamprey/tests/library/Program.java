package lamprey.tests.library;

import java.io.IOException;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVPrinter;
import org.apache.commons.csv.CSVRecord;

/** Parses a text and prints its records, by a reader and a writer that block all the time. */
final class Program implements Runnable {
    private static final CSVFormat[] FORMATS = {CSVFormat.DEFAULT, CSVFormat.EXCEL, CSVFormat.TDF, CSVFormat.MYSQL, CSVFormat.RFC4180};

    private final String text;
    private final CSVFormat format;
    private final StringBuilder result = new StringBuilder();

    private Program(String text, CSVFormat format) {
        this.text = text;
        this.format = format;
    }

    @Override
    public void run() {
        PausingWriter out = new PausingWriter();
        try (CSVParser parser = CSVParser.parse(new PausingReader(text), format); CSVPrinter printer = new CSVPrinter(out, format)) {
            for (CSVRecord r : parser) {
                result.append(r.getRecordNumber()).append('@').append(r.getCharacterPosition()).append(r.toList());
                // Not printRecord, which prints from within a stream of the JDK.
                for (String value : r) {
                    printer.print(value);
                }
                printer.println();
            }
        } catch (IOException | RuntimeException e) {
            result.append(e.getClass().getName()).append(e.getMessage());
        }
        result.append(out.text);
    }

    /** The result; after it the number of pauses, if it is run as a coroutine. */
    static String[] results(String text, boolean coroutine) throws Throwable {
        String[] all = new String[FORMATS.length * 2];
        for (int i = 0; i < FORMATS.length; i++) {
            Program p = new Program(text, FORMATS[i]);
            int pauses = 0;
            if (coroutine) {
                pauses = Pause.runToEnd(p);
            } else {
                p.run();
            }
            all[2 * i] = p.result.toString();
            all[2 * i + 1] = "" + pauses;
        }
        return all;
    }
}
