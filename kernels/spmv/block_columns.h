// Block columns are of 32 bits, or of 16 BITS, counted from the first of each slice. Where slices are FAR that span more
// than that, their first is negative, and tells where their columns stand in `far`.
#if BITS == 16
#define NEARBY(place) (columns[place] == 65535 ? -1 : (int)columns[place])
#else
#define NEARBY(place) columns[place]
#endif
#if FAR
#define COLUMN(place) (distant ? distant[(place) - begin] : NEARBY(place))
#else
#define COLUMN(place) NEARBY(place)
#endif
