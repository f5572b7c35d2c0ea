#include <ounce/app.h>
