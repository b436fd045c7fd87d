package send

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

const millisecondsPerSecond = 1000

// milliseconds returns a timestamp of a message event as a number of milliseconds:
// a string is one of seconds, perhaps with a fraction, anything else stays as it is.
func milliseconds(timestamp any) (any, error) {
	text, ok := timestamp.(string)
	if !ok {
		return timestamp, nil
	}
	whole, fraction, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseUint(whole, 10, 63)
	if err != nil || !isDigits(fraction) || seconds >= math.MaxInt64/millisecondsPerSecond {
		return nil, boterr.Invalid("", "must be a number of milliseconds or a string of seconds, got %.40q", text)
	}
	return int64(seconds)*millisecondsPerSecond + thousandths(fraction), nil
}

// seconds returns a timestamp as a string of seconds with six decimals, as platforms whose
// timestamps are ids write theirs.
func seconds(timestamp document.Timestamp) string {
	const microsecondsPerMillisecond = 1000
	ms := int64(timestamp)
	return fmt.Sprintf("%d.%06d", ms/millisecondsPerSecond, ms%millisecondsPerSecond*microsecondsPerMillisecond)
}

func isDigits(text string) bool {
	return strings.Trim(text, "0123456789") == ""
}

// thousandths returns the first three digits behind a decimal point.
func thousandths(fraction string) int64 {
	n, _ := strconv.ParseInt((fraction + "000")[:3], 10, 64) // These are digits.
	return n
}
