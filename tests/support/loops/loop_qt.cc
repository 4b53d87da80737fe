// loop_qt.cc - QCoreApplication, Qt 5 and 6; QT_NO_GLIB=1 in the environment gives Qt's own dispatcher instead of
// GLib's.
#include "planted.h"

#include <QCoreApplication>
#include <QTimer>

int main(int argc, char **argv)
{
    planted_start(argv);
    QCoreApplication app(argc, argv);
    QTimer::singleShot(IDLE_MS, Qt::PreciseTimer, [] {
        planted_hang();
        QTimer::singleShot(REST_MS, Qt::PreciseTimer, QCoreApplication::quit);
    });
    return app.exec();
}
