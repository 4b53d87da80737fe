// loop_qt.cc - QCoreApplication, Qt 5 and 6; QT_NO_GLIB=1 in the environment selects Qt's own dispatcher, not GLib's.
// argv[2]: exact: mire/glib.h, and a wait inside a turn; otherwise a hang.
#include "planted.h"

#include <QCoreApplication>
#include <QTimer>
#ifdef WITH_GLIB
#include <mire/glib.h>
#endif

int main(int argc, char **argv)
{
    planted_start(argv);
    const bool exact = argc > 2;
    QCoreApplication app(argc, argv);
#ifdef WITH_GLIB
    static mire_glib adapter;
    planted_expect(mire_glib_attach(&adapter, nullptr));
#endif
    QTimer::singleShot(IDLE_MS, Qt::PreciseTimer, [exact] {
        if (exact)
            planted_hang_waiting();
        else
            planted_hang();
        QTimer::singleShot(REST_MS, Qt::PreciseTimer, QCoreApplication::quit);
    });
    return app.exec();
}
