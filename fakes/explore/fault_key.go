package explore

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
)

// wayNames are what ways are called in Variable.
func wayNames() [wayCount]string {
	return [wayCount]string{"fails", "isRefused", "timesOut", "isLate", "crashes", "crashesAfter"}
}

// serviceNames are what services are called in Variable, and their constants, behind "Service".
func serviceNames() map[fakes.Service]string {
	return map[fakes.Service]string{
		fakes.ServiceStore: "Store", fakes.ServiceDataSources: "DataSources", fakes.ServiceMail: "Mail", fakes.ServiceFiles: "Files",
		fakes.ServicePayments: "Payments", fakes.ServiceHTTP: "HTTP", fakes.ServiceMessages: "Messages",
	}
}

// keyOf returns a plan as Variable has it: "sendResponse#1=timesOut,Mail#2=fails".
func keyOf(plan []fault) string {
	parts := make([]string, len(plan))
	for i, f := range plan {
		parts[i] = nameOfCall(f) + "=" + wayNames()[f.way]
	}
	return strings.Join(parts, ",")
}

// nameOfCall names the call or the request that a fault is of: "sendResponse#1".
func nameOfCall(f fault) string { return fmt.Sprintf("%s#%d", targetOf(f), f.n) }

// targetOf names the operation or the service that a fault is of.
func targetOf(f fault) string {
	if f.op == "" {
		return serviceNames()[f.service]
	}
	return string(f.op)
}

// parsePlan is the way back. InvalidArgument: a part is no fault.
func parsePlan(key string) ([]fault, error) {
	var plan []fault
	for part := range strings.SplitSeq(key, ",") {
		one, isFault := parseFault(part)
		if !isFault {
			return nil, boterr.Invalid("", "%q is no fault: give what a failing test has printed, such as sendResponse#1=timesOut", part)
		}
		plan = append(plan, one)
	}
	return plan, nil
}

func parseFault(part string) (read fault, isFault bool) {
	target, rest, _ := strings.Cut(part, "#")
	number, name, _ := strings.Cut(rest, "=")
	for number, known := range wayNames() {
		if known == name {
			read.way, isFault = way(number), true
		}
	}
	var err error
	if read.n, err = strconv.Atoi(number); err != nil || read.n < 1 {
		return read, false
	}
	for service, known := range serviceNames() {
		if known == target {
			read.service = service
			return read, isFault
		}
	}
	read.op = botctx.Op(target)
	return read, isFault && read.op.Exists()
}
