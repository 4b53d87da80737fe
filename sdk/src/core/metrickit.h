/*
 * metrickit.h - the library's own subscription to MetricKit, by the ObjC runtime. For Apple's systems; private to core/.
 */
#ifndef MIRE_CORE_METRICKIT_H
#define MIRE_CORE_METRICKIT_H

/* Subscribe; no effect where there is no MetricKit. End it. Thread: the owner of the SDK's state. */
void mire__metrickit_subscribe(void);
void mire__metrickit_unsubscribe(void);

#endif
