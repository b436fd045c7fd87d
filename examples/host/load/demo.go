package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/botctx/go-sdk/channel"
)

// runDemo sends to the demo channel for so long, and prints the answers by their status, how long they
// took, and how many connections were opened.
func runDemo(ctx context.Context, o options) error {
	address := cmp.Or(os.Getenv("HOST_LISTEN"), "127.0.0.1:8080")
	d := demo{
		platform: newPlatform(func() string { return address }, channel.NewSecret(os.Getenv("HOST_DEMO_SECRET")), o.senders),
		answers:  map[string]int{},
	}
	ctx, cancel := context.WithTimeout(ctx, o.duration)
	defer cancel()
	var group sync.WaitGroup
	for sender := range o.senders {
		group.Go(func() { d.send(ctx, sender) })
	}
	group.Wait()
	if len(d.took) == 0 {
		return errors.New("nothing was sent")
	}
	slices.Sort(d.took)
	for status, count := range d.answers {
		fmt.Printf("%7d %s\n", count, status)
	}
	fmt.Printf("half within %v, 99 of 100 within %v, all within %v; %d connections opened by %d senders\n",
		d.took[len(d.took)/2], d.took[len(d.took)*99/100], d.took[len(d.took)-1], d.platform.opened.Load(), o.senders)
	return nil
}

// demo is what all senders to the demo channel share.
type demo struct {
	platform *platform

	mutex   sync.Mutex
	answers map[string]int
	took    []time.Duration
}

// lines are what a member says, one after the other.
var lines = [...]string{"hello", "a table for 4 at 19:30", "yes"}

// send sends messages of ten members in turn until ctx ends. One that is under way then is waited for.
func (d *demo) send(ctx context.Context, sender int) {
	for i := 0; ctx.Err() == nil; i++ {
		began := time.Now()
		status, err := d.platform.post(context.WithoutCancel(ctx), message{
			channel: "demo", id: fmt.Sprintf("load_%d_%d_%d", os.Getpid(), sender, i),
			from: fmt.Sprintf("member%d-%d", sender, i/len(lines)%10), text: lines[i%len(lines)],
		})
		if err != nil {
			status = err.Error()
		}
		d.note(status, time.Since(began))
	}
}

// note counts an answer.
func (d *demo) note(answer string, took time.Duration) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.answers[answer]++
	d.took = append(d.took, took)
}
