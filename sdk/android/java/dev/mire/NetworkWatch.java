package dev.mire;

import android.content.Context;
import android.content.pm.PackageManager;
import android.net.ConnectivityManager;
import android.net.Network;
import android.net.NetworkCapabilities;
import android.os.Build;

/**
 * Tells the library whether the network is metered, from Android 7 on, if the app may know (ACCESS_NETWORK_STATE, which
 * the AAR asks for). Thread: the system's.
 */
final class NetworkWatch extends ConnectivityManager.NetworkCallback {
    private static final int UNMETERED = 0;
    private static final int METERED = 1;
    private static final int NONE = 2;

    private NetworkWatch() {
    }

    static void open(Context context) {
        try {
            if (Build.VERSION.SDK_INT >= 24 && context.checkSelfPermission("android.permission.ACCESS_NETWORK_STATE")
                    == PackageManager.PERMISSION_GRANTED)
                ((ConnectivityManager) context.getSystemService(Context.CONNECTIVITY_SERVICE))
                        .registerDefaultNetworkCallback(new NetworkWatch());
        } catch (RuntimeException | LinkageError e) {
            /* every network counts as unmetered */
        }
    }

    @Override
    public void onCapabilitiesChanged(Network network, NetworkCapabilities can) {
        Native.setNetwork(can.hasCapability(NetworkCapabilities.NET_CAPABILITY_NOT_METERED) ? UNMETERED : METERED);
    }

    @Override
    public void onLost(Network network) {
        Native.setNetwork(NONE);
    }
}
