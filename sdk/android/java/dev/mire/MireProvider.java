package dev.mire;

import android.content.ContentProvider;
import android.content.ContentValues;
import android.content.Context;
import android.content.pm.PackageManager;
import android.database.Cursor;
import android.net.Uri;
import android.os.Bundle;

/**
 * Starts Mire before the app's own code, without a line of it, in an app whose manifest says where to:
 *
 * <pre>
 *     &lt;meta-data android:name="dev.mire.server" android:value="https://mire.example.com" /&gt;
 *     &lt;meta-data android:name="dev.mire.key" android:value="mk_..." /&gt;
 *     &lt;meta-data android:name="dev.mire.channel" android:value="gray" /&gt;      may be absent
 * </pre>
 *
 * Without them it does nothing. It provides no data.
 */
public final class MireProvider extends ContentProvider {
    @Override
    public boolean onCreate() {
        Context context = getContext();
        try {
            Bundle words = context.getPackageManager()
                    .getApplicationInfo(context.getPackageName(), PackageManager.GET_META_DATA).metaData;
            String server = words == null ? null : words.getString("dev.mire.server");
            if (server != null) {
                MireOptions options = new MireOptions(server, words.getString("dev.mire.key"));
                if (words.getString("dev.mire.channel") != null)
                    options.channel(words.getString("dev.mire.channel"));
                Mire.start(context, options);
            }
        } catch (PackageManager.NameNotFoundException | RuntimeException e) {
            return false;
        }
        return true;
    }

    @Override
    public Cursor query(Uri uri, String[] columns, String where, String[] words, String order) {
        return null;
    }

    @Override
    public String getType(Uri uri) {
        return null;
    }

    @Override
    public Uri insert(Uri uri, ContentValues values) {
        return null;
    }

    @Override
    public int delete(Uri uri, String where, String[] words) {
        return 0;
    }

    @Override
    public int update(Uri uri, ContentValues values, String where, String[] words) {
        return 0;
    }
}
