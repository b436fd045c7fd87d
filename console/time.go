package console

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// longUnit is a number of days or weeks, which time.ParseDuration does not know.
var longUnit = regexp.MustCompile(`(\d+(?:\.\d+)?)([dw])`)

// durationOf reads a time such as 24h, 2d, 1w or 1d12h.
func durationOf(text string) (time.Duration, error) {
	hours := map[string]float64{"d": 24, "w": 7 * 24}
	inHours := longUnit.ReplaceAllStringFunc(text, func(part string) string {
		number, _ := strconv.ParseFloat(part[:len(part)-1], 64)
		return strconv.FormatFloat(number*hours[part[len(part)-1:]], 'f', -1, 64) + "h"
	})
	d, err := time.ParseDuration(inHours)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is no time: give one such as 24h, 2d, 1w or 90m", text)
	case d < 0:
		return 0, errors.New("time does not go back: give how much is to pass, such as 24h")
	default:
		return d, nil
	}
}

// stamp is how the virtual time is shown.
const stamp = "Mon 2 Jan 2006 15:04:05 MST"

// advance lets time pass.
func (s *session) advance(argument string) error {
	by, err := durationOf(argument)
	if err != nil {
		return err
	}
	s.act(call{method: "Advance", args: goDuration(by)}, func() error { return s.platform.TryAdvance(by) })
	s.screen.notef("It is %s.", s.platform.Now().Format(stamp))
	return nil
}
