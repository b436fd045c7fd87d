package geometry

import (
	"fmt"

	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/boterr"
)

// newRing returns the loop of a ring whose last point repeats the first. Its interior is on the
// left of its sides. Whether sides cross is not checked.
func newRing(points []Point) (*s2.Loop, error) {
	if len(points) == 0 || points[0] != points[len(points)-1] {
		return nil, boterr.Invalid("", "a ring is closed: its last point equals the first")
	}
	corners := vertices(points)
	corners = corners[:len(corners)-1]
	const triangle = 3
	if len(corners) < triangle {
		return nil, boterr.Invalid("", "a ring needs at least 3 different points, got %d", len(corners))
	}
	seen := make(map[s2.Point]struct{}, len(corners))
	for i, corner := range corners {
		if _, again := seen[corner]; again {
			return nil, boterr.Invalid("", "a ring passes a point once only, and comes to %s twice", shown(corner))
		}
		seen[corner] = struct{}{}
		if areAntipodal(corner, corners[(i+1)%len(corners)]) {
			return nil, boterr.Invalid("", "a side of a ring cannot join opposite points of the globe, as side %d does", i)
		}
	}
	return s2.LoopFromPoints(corners), nil
}

// shown returns a point in degrees, for texts.
func shown(p s2.Point) string {
	at := s2.LatLngFromPoint(p)
	return fmt.Sprintf("[%.7g, %.7g]", at.Lng.Degrees(), at.Lat.Degrees())
}
