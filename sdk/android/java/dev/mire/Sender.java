package dev.mire;

import android.net.TrafficStats;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.util.Arrays;

/**
 * The thread that answers the library's requests: it sends them by HttpURLConnection, with the system's certificates, its proxy,
 * and the app's network security configuration (which also pins keys), and reads the system's traces of ended runs. It sleeps while there is nothing to send.
 */
final class Sender extends Thread {
    private static final int CONNECT_MS = 15000;
    private static final int READ_MS = 30000;
    private static final int BODY_MOST = 1 << 18;
    private static final int TRACE_MOST = 1 << 20;
    private static final int TAG = 0x4d697265; /* of its bytes in the system's statistics of traffic */
    private static final String[] HEADERS = {"Retry-After", "Date", "ETag"};

    Sender() {
        super("mire-send");
        setDaemon(true);
    }

    /** Requests have no answer from now on. One that is under way ends by itself. */
    void close() {
        Native.closeRequests();
    }

    @Override
    public void run() {
        try {
            TrafficStats.setThreadStatsTag(TAG);
        } catch (RuntimeException | LinkageError e) {
            /* untagged, then */
        }
        for (Object[] request; (request = Native.awaitRequest()) != null;) {
            try {
                if (request[0].equals("TRACE"))
                    answerHere(ExitWatch.traceOf((String) request[1], TRACE_MOST));
                else if (request[0].equals("GAUGES"))
                    answerHere(readGauges());
                else
                    send(request);
            } catch (IOException | RuntimeException | LinkageError e) {
                Native.answerRequest(0, null, null, 0);
            }
        }
    }

    private static byte[] readGauges() {
        MemoryWatch.read();
        return new byte[0];
    }

    /** null: there is no answer. */
    private static void answerHere(byte[] body) {
        Native.answerRequest(body == null ? 0 : 200, null, body, body == null ? 0 : body.length);
    }

    /** request: method, URL, body or null, then "Name: value" up to null. */
    private static void send(Object[] request) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) new URL((String) request[1]).openConnection();
        byte[] body = (byte[]) request[2];
        try {
            connection.setConnectTimeout(CONNECT_MS);
            connection.setReadTimeout(READ_MS);
            connection.setInstanceFollowRedirects(false);
            connection.setUseCaches(false);
            connection.setRequestMethod((String) request[0]);
            for (int i = 3; i < request.length && request[i] != null; i++)
                setHeader(connection, (String) request[i]);
            if (body != null) {
                connection.setDoOutput(true);
                connection.setFixedLengthStreamingMode(body.length);
                OutputStream out = connection.getOutputStream();
                out.write(body);
                out.close();
            }
            answer(connection);
        } finally {
            connection.disconnect();
        }
    }

    private static void setHeader(HttpURLConnection connection, String line) {
        int colon = line.indexOf(": ");
        if (colon > 0)
            connection.setRequestProperty(line.substring(0, colon), line.substring(colon + 2));
    }

    private static void answer(HttpURLConnection connection) throws IOException {
        int status = connection.getResponseCode();
        String[] headers = new String[HEADERS.length];
        InputStream in = status >= 400 ? connection.getErrorStream() : connection.getInputStream();
        byte[] bytes = new byte[4096];
        int size = 0;
        for (int i = 0; i < HEADERS.length; i++)
            headers[i] = connection.getHeaderField(HEADERS[i]);
        for (int got; in != null && size < BODY_MOST && (got = in.read(bytes, size, bytes.length - size)) > 0;) {
            size += got;
            if (size == bytes.length)
                bytes = Arrays.copyOf(bytes, 2 * size);
        }
        Native.answerRequest(status, headers, Arrays.copyOf(bytes, size), size);
    }
}
