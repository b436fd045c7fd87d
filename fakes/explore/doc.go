// Package explore searches for the ways in which a bot can go wrong: faults of services, and orders of
// simultaneous actions. A test states a property that must hold, and the search runs it on fresh platforms of
// package fakes until it fails.
//
//   - To make services fail, be late, lose answers or crash the process, use [Faults]. It prints the smallest
//     plan of faults that breaks a property, as lines of Go.
//   - To interleave members, agents and agendas at each operation and each request to a service, use [Orders]
//     and [T.Go]. It prints the order that breaks a property, with as few switches as possible.
//   - To wait until a bot has recovered before the test checks its property, use [T.Settle].
//
// A property makes members write to the bot, and then checks the outcome. Under faults, it cannot require that
// everything succeeds. It can require that no member pays twice, that confirmed orders are stored, and that a
// repeated message gets an answer in the end:
//
//	func TestOrder_IsPaidOnce(t *testing.T) {
//		explore.Faults(t, 100, func(t *explore.T, p *fakes.Platform) {
//			p.Handle(shop.Nodes()...)
//			account := p.AddAccount("shop")
//			ada := p.AddMember(member.Member{FirstName: "Ada"})
//			_ = ada.TrySays("buy")     // It may fail.
//			t.Settle(time.Hour)        // The bot restarts, and retries what failed.
//			_ = ada.TrySaysAgain()     // The platform delivers the message again if it may be lost.
//			require.LessOrEqual(t, len(account.Payments()), 1)
//		}, explore.PlatformOptions(fakes.WithInbox()))
//	}
//
// Simultaneous actions are given to T.Go:
//
//	func TestStock_IsSoldOnce(t *testing.T) {
//		explore.Orders(t, 100, func(t *explore.T, p *fakes.Platform) {
//			p.Handle(shop.Nodes()...)
//			p.AddData("stock", document.O("_id", "kettle", "left", 1))
//			ada, bob := p.AddMember(member.Member{}), p.AddMember(member.Member{})
//			t.Go("Ada", func() { ada.Says("buy") })
//			t.Go("Bob", func() { bob.Says("buy") })
//			t.Wait()
//			require.Equal(t, 1, sold(p))
//		})
//	}
//
// # Guarantees of a search
//
// The same seed gives the same search, and the same round gives the same run. Before a failure is reported, its
// round runs again; if the result differs, the property is reported as nondeterministic. A property that fails
// without any fault is reported, too. [Variable] repeats a round; the failing test prints its value.
//
// A search that finds nothing proves nothing. Its rounds alternate between a single fault or switch, at operations
// first, and several at once. A call that only happens after a fault, such as a second attempt, fails in one of the
// next rounds. Most bugs need one or two faults.
//
// # Limits
//
// A bot's own goroutines run at the same time as the turn that started them. The search does not control clocks,
// random numbers and services other than the fakes. T.Switch adds a switching point to a test's own fake.
package explore
