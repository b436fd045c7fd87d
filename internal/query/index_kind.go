package query

// IndexKind is the kind of an index's key.
type IndexKind string

// The kinds of keys.
const (
	// Ascending orders by Compare; it serves equality, ranges and sorts.
	Ascending IndexKind = "ascending"
	// Descending is Ascending the other way round.
	Descending IndexKind = "descending"
	// Geo2D holds legacy pairs on a plane, or arrays of them, Geo2DSphere GeoJSON
	// and pairs on the globe. A document whose value at the path is something else
	// is InvalidArgument; null, an empty array, a missing field and, for Geo2D, other
	// scalars are left out.
	Geo2D       IndexKind = "2d"
	Geo2DSphere IndexKind = "2dsphere"
)

// IsGeo reports whether keys of this kind hold places.
func (k IndexKind) IsGeo() bool { return k == Geo2D || k == Geo2DSphere }
