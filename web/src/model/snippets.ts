/* The lines that connect an app, by platform, with the server's address and the key filled in. */

export type Platform = 'run' | 'linux' | 'android' | 'ios' | 'cmake' | 'curl';
export const PLATFORMS: readonly Platform[] = ['android', 'ios', 'linux', 'run', 'cmake', 'curl'];

export interface Place {
  server: string;
  app: string;
  key: string;
}

/* A report that any shell can send: a main thread that sleeps in a click. Its moment makes each one another report. */
export function testReport(app: string, at: Date): string {
  const when = at.toISOString().replace('T', ' ').replace('Z', '');
  return `----- pid 1 at ${when}000000+0000 -----
Cmd line: ${app}
DALVIK THREADS (1):
"main" prio=5 tid=1 Sleeping
  | sysTid=1 nice=0 cgrp=top-app
  | state=S
  at java.lang.Thread.sleep(Native method)
  at com.example.Checkout.pay(Checkout.java:42)
  at com.example.Shop.onClick(Shop.java:7)
  at android.os.Looper.loop(Looper.java:294)
  at android.app.ActivityThread.main(ActivityThread.java:8177)
----- end 1 -----`;
}

function c({ server, app, key }: Place): string {
  return `#include <mire/mire.h>

mire_options *options = mire_options_new();
mire_options_set_app(options, "${app}", "1.0");
mire_options_set_server(options, "${server}", "${key}");
mire_options_set_channel(options, "internal");  /* while you develop; the public channel is sampled */
mire_start(options);                            /* on the main thread */
mire_options_free(options);`;
}

const SNIPPETS: Record<Platform, (place: Place) => string> = {
  run: ({ server, app, key }) => `export MIRE_SERVER=${server}
export MIRE_KEY=${key}
mire run --app ${app} --threshold 500 -- ./${app}`,
  linux: (place) => `${c(place)}

cc app.c $(pkg-config --cflags --libs mire)`,
  cmake: (place) => `find_package(mire REQUIRED)
target_link_libraries(${place.app} PRIVATE mire::mire)

${c(place)}`,
  android: ({ server, key }) => `dependencies { implementation 'dev.mire:mire-android:0.1.0' }

<!-- AndroidManifest.xml, inside <application> -->
<meta-data android:name="dev.mire.server" android:value="${server}" />
<meta-data android:name="dev.mire.key" android:value="${key}" />
<meta-data android:name="dev.mire.channel" android:value="internal" />`,
  ios: ({ server, app, key }) => `import Mire  // Package.swift of this project

let options = mire_options_new()
mire_options_set_app(options, "${app}", "1.0")
mire_options_set_server(options, "${server}", "${key}")
mire_options_set_store(options, NSSearchPathForDirectoriesInDomains(.cachesDirectory, .userDomainMask, true)[0] + "/mire")
mire_start(options)  // on the main thread
mire_options_free(options)`,
  curl: ({ server, app, key }) => `curl -H 'Authorization: Bearer ${key}' -H 'Content-Type: text/vnd.android.anr' \\
  --data-binary @- ${server}/api/v1/reports <<'END'
${testReport(app, new Date())}
END`,
};

export function snippet(platform: Platform, place: Place): string {
  return SNIPPETS[platform](place);
}
