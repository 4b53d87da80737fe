#!/usr/bin/env python3
"""Stacks of Android's main thread, as an ANR's dump has them: the app's code is to blame, and the reason is that of the wait."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

MIRE = pathlib.Path(os.environ["MIRE_BINARY_DIR"]) / "server/mire"
HEAD = """----- pid 4711 at 2026-05-04 10:11:12.500000000+0000 -----
Cmd line: com.example.shop
Build fingerprint: 'maker/product/phone:14/UQ1A.1/123:user/release-keys'
ABI: 'arm64'
DALVIK THREADS (1):
"""
MAIN = ["android.app.ActivityThread.main", "java.lang.reflect.Method.invoke", "com.android.internal.os.RuntimeInit$MethodAndArgsCaller.run",
        "com.android.internal.os.ZygoteInit.main"]
LOOP = ["android.os.Looper.loopOnce", "android.os.Looper.loop", *MAIN]
POST = ["android.os.Handler.handleCallback", "android.os.Handler.dispatchMessage", *LOOP]
FRAME = ["android.view.Choreographer$CallbackRecord.run", "android.view.Choreographer.doCallbacks", "android.view.Choreographer.doFrame",
         "android.view.Choreographer$FrameDisplayEventReceiver.run", *POST]
SHOP = "com.example.shop."
PARK = ["sun.misc.Unsafe.park", "java.util.concurrent.locks.LockSupport.park"]
LATCH = [*PARK, "java.util.concurrent.locks.AbstractQueuedSynchronizer.parkAndCheckInterrupt",
         "java.util.concurrent.locks.AbstractQueuedSynchronizer.doAcquireSharedInterruptibly",
         "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquireSharedInterruptibly", "java.util.concurrent.CountDownLatch.await"]
BINDER = ["android.os.BinderProxy.transactNative", "android.os.BinderProxy.transact"]

# name: (state, stack from the innermost frame on, kind, reason, Caller1, Caller2), the app's names without SHOP; None: nobody
CASES = {
    "message": ("Runnable", [SHOP + "Parser.read", SHOP + "Cart.refresh", SHOP + "Cart$1.handleMessage", "android.os.Handler.dispatchMessage", *LOOP],
                "hang", "cpu", "Parser.read", "Cart$1.handleMessage"),
    "click": ("Sleeping", ["java.lang.Thread.sleep", "java.lang.Thread.sleep", SHOP + "Pay.wait3s", SHOP + "PayButton.onClick", "android.view.View.performClick",
                           "android.view.View.performClickInternal", "android.view.View$PerformClick.run", *POST],
              "hang", "sleep", "Pay.wait3s", "PayButton.onClick"),
    "touch": ("Runnable", [SHOP + "Map.zoom", SHOP + "MapView.onTouchEvent", "android.view.View.dispatchTouchEvent", "android.view.ViewGroup.dispatchTouchEvent",
                           "android.view.ViewRootImpl$ViewPostImeInputStage.processPointerEvent", "android.view.InputEventReceiver.dispatchInputEvent",
                           "android.os.MessageQueue.nativePollOnce", "android.os.MessageQueue.next", *LOOP],
              "hang", "cpu", "Map.zoom", "MapView.onTouchEvent"),
    "idle handler": ("Runnable", [SHOP + "Preload.queueIdle", "android.os.MessageQueue.next", *LOOP], "hang", "cpu", "Preload.queueIdle", "Preload.queueIdle"),
    "draw": ("Runnable", [SHOP + "Chart.onDraw", "android.view.View.draw", "android.view.ViewRootImpl.performDraw", "android.view.ViewRootImpl.performTraversals", *FRAME],
             "hang", "cpu", "Chart.onDraw", "Chart.onDraw"),
    "coroutine": ("Runnable", [SHOP + "Feed.merge", SHOP + "FeedModel$load$1.invokeSuspend", "kotlin.coroutines.jvm.internal.BaseContinuationImpl.resumeWith",
                               "kotlinx.coroutines.DispatchedTask.run", *POST], "hang", "cpu", "Feed.merge", "FeedModel$load$1.invokeSuspend"),
    "runBlocking": ("Waiting", [*PARK, "kotlinx.coroutines.BlockingCoroutine.joinBlocking", "kotlinx.coroutines.BuildersKt__BuildersKt.runBlocking",
                                "kotlinx.coroutines.BuildersKt.runBlocking", SHOP + "Login.token", SHOP + "LoginActivity.onCreate",
                                "android.app.Activity.performCreate", "android.app.ActivityThread.performLaunchActivity", *POST],
                    "hang", "wait", "Login.token", "LoginActivity.onCreate"),
    "RxJava": ("Runnable", [SHOP + "Prices.format", SHOP + "Prices$2.accept", "io.reactivex.rxjava3.internal.observers.LambdaObserver.onNext",
                            "io.reactivex.rxjava3.internal.operators.observable.ObservableObserveOn$ObserveOnObserver.run",
                            "io.reactivex.rxjava3.android.schedulers.HandlerScheduler$ScheduledRunnable.run", *POST],
               "hang", "cpu", "Prices.format", "Prices$2.accept"),
    "RxJava, blocking": ("Waiting", [*LATCH, "io.reactivex.rxjava3.internal.observers.BlockingMultiObserver.blockingGet", "io.reactivex.rxjava3.core.Single.blockingGet",
                                     SHOP + "Session.user", SHOP + "Home.onResume", "android.app.Instrumentation.callActivityOnResume", *POST],
                         "hang", "wait", "Session.user", "Home.onResume"),
    "Compose": ("Runnable", [SHOP + "CartScreenKt.sortItems", SHOP + "CartScreenKt.CartScreen", "androidx.compose.runtime.internal.ComposableLambdaImpl.invoke",
                             "androidx.compose.runtime.ComposerImpl.doCompose", "androidx.compose.runtime.Recomposer.performRecompose",
                             "androidx.compose.ui.platform.AndroidUiFrameClock$withFrameNanos$2$callback$1.doFrame", *FRAME],
                "hang", "cpu", "CartScreenKt.sortItems", "CartScreenKt.CartScreen"),
    "WorkManager": ("Runnable", [SHOP + "SyncWorker.merge", SHOP + "SyncWorker.doWork", "androidx.work.Worker$1.run", *POST],
                    "hang", "cpu", "SyncWorker.merge", "SyncWorker.doWork"),
    "Binder": ("Native", [*BINDER, "android.content.pm.IPackageManager$Stub$Proxy.getInstalledPackages", "android.app.ApplicationPackageManager.getInstalledPackages",
                          SHOP + "Partners.find", SHOP + "Home.onCreate", "android.app.Activity.performCreate", *POST], "hang", "ipc", "Partners.find", "Home.onCreate"),
    "commit": ("Waiting", [*LATCH, "android.app.SharedPreferencesImpl$EditorImpl.commit", SHOP + "Settings.save", SHOP + "Settings$1.onClick",
                           "android.view.View.performClick", *POST], "hang", "io", "Settings.save", "Settings$1.onClick"),
    "apply, at a pause": ("Waiting", [*LATCH, "android.app.SharedPreferencesImpl$EditorImpl$1.run", "android.app.QueuedWork.waitToFinish",
                                      "android.app.ActivityThread.handlePauseActivity", *POST], "system", "io", None, None),
    "first preferences": ("Waiting", ["java.lang.Object.wait", "android.app.SharedPreferencesImpl.awaitLoadedLocked", "android.app.SharedPreferencesImpl.getString",
                                      SHOP + "Settings.theme", SHOP + "App.onCreate", "android.app.Instrumentation.callApplicationOnCreate", *POST],
                          "hang", "io", "Settings.theme", "App.onCreate"),
    "provider": ("Runnable", [SHOP + "Tables.upgrade", SHOP + "ShopProvider.onCreate", "android.content.ContentProvider.attachInfo",
                              "android.app.ActivityThread.installProvider", *POST], "hang", "cpu", "Tables.upgrade", "ShopProvider.onCreate"),
    "query of another process": ("Native", [*BINDER, "android.content.ContentProviderProxy.query", "android.content.ContentResolver.query", SHOP + "Contacts.all",
                                            SHOP + "Invite.onStart", "android.app.Instrumentation.callActivityOnStart", *POST],
                                 "hang", "ipc", "Contacts.all", "Invite.onStart"),
    "class loading": ("Native", ["dalvik.system.DexFile.defineClassNative", "dalvik.system.DexFile.defineClass", "dalvik.system.DexPathList.findClass",
                                 "dalvik.system.BaseDexClassLoader.findClass", "java.lang.ClassLoader.loadClass", "java.lang.Class.forName", SHOP + "Plugins.load",
                                 SHOP + "App.onCreate", "android.app.Instrumentation.callApplicationOnCreate", *POST], "hang", "io", "Plugins.load", "App.onCreate"),
    "library": ("Native", ["java.lang.Runtime.nativeLoad", "java.lang.Runtime.loadLibrary0", "java.lang.System.loadLibrary", SHOP + "Codec.<clinit>", SHOP + "App.onCreate",
                           "android.app.Instrumentation.callApplicationOnCreate", *POST], "hang", "io", "Codec.<clinit>", "App.onCreate"),
    "lock": ("Waiting", [*PARK, "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire", "java.util.concurrent.locks.ReentrantLock$Sync.lock",
                         "java.util.concurrent.locks.ReentrantLock.lock", SHOP + "Cache.get", SHOP + "List.onBind", "android.view.View.measure", *FRAME],
             "hang", "lock", "Cache.get", "List.onBind"),
    "database": ("Native", ["android.database.sqlite.SQLiteConnection.nativeExecute", "android.database.sqlite.SQLiteConnection.execute", SHOP + "Orders.load",
                            SHOP + "OrderList.onStart", "android.app.Instrumentation.callActivityOnStart", *POST], "hang", "io", "Orders.load", "OrderList.onStart"),
    "idle": ("Native", ["android.os.MessageQueue.nativePollOnce", "android.os.MessageQueue.next", *LOOP], "idle", None, None, None),
    "render thread": ("Native", ["android.graphics.HardwareRenderer.nSyncAndDrawFrame", "android.view.ThreadedRenderer.draw", "android.view.ViewRootImpl.draw", *FRAME],
                      "system", "wait", None, None),
}


class AndroidStacksTest(unittest.TestCase):
    def shown(self, state, stack):
        letter = "R" if state == "Runnable" else "S"
        text = HEAD + f'"main" prio=5 tid=1 {state}\n  | sysTid=4711 nice=-10 cgrp=top-app\n  | state={letter} schedstat=( 1 2 3 ) utm=72 stm=6 core=1 HZ=100\n'
        text += "".join(f"  at {frame}({frame.split('.')[-2].split('$')[0]}.java:{i + 7})\n" for i, frame in enumerate(stack)) + "\n----- end 4711 -----\n"
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(text)
            file.flush()
            return subprocess.run([MIRE, "show", file.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout

    def test_the_apps_code_is_to_blame(self):
        for name, (state, stack, kind, reason, caller1, caller2) in CASES.items():
            with self.subTest(name):
                said = self.shown(state, stack)
                self.assertRegex(said, rf"(?m)^kind +{kind}, {reason or ''}")
                for word, caller in (("Caller1", caller1), ("Caller2", caller2)):
                    if caller:
                        self.assertRegex(said, rf"(?m)^{word} +{re.escape(SHOP + caller)} ")
                    else:
                        self.assertNotRegex(said, rf"(?m)^{word} +{re.escape(SHOP)}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
