/* explained.h - the facet that explains each change that is shown (model/explain.h). */
#ifndef MIRE_API_EXPLAINED_H
#define MIRE_API_EXPLAINED_H

#include "api/apps/compared.h"

/* Fill `why` of the first 20 changes of the list that are shown. 0 or a fault. */
int explained_read(struct comparison *comparison, struct call *call);

#endif
