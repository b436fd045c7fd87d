// Package explore searches the ways in which a bot can go wrong: faults of what it works with, and orders of
// what happens at once. A test states what must hold, and the search runs it on fresh platforms of package
// fakes until it does not.
//
//   - To make what a bot works with fail, be late, lose its answers and lose the process, use [Faults]: it
//     prints the smallest plan of faults that breaks a property, as lines of Go.
//   - To let members, agents and agendas go on in turn at each operation and each request to a service, use
//     [Orders] and [T.Go]: it prints the order that breaks a property, with as few changes as it takes.
//   - To let a bot come back before what must hold is stated, use [T.Settle].
//
// A property makes members say things, and states what is true then. What must hold under faults is seldom
// that all goes well. It is that nobody pays twice, that what was confirmed is noted, and that who says
// something again has an answer at last:
//
//	func TestOrder_IsPaidOnce(t *testing.T) {
//		explore.Faults(t, 100, func(t *explore.T, p *fakes.Platform) {
//			p.Handle(shop.Nodes()...)
//			account := p.AddAccount("shop")
//			ada := p.AddMember(member.Member{FirstName: "Ada"})
//			_ = ada.TrySays("buy")     // It may fail.
//			t.Settle(time.Hour)        // The bot comes back, and what failed is tried again.
//			_ = ada.TrySaysAgain()     // The platform repeats what was perhaps not heard.
//			require.LessOrEqual(t, len(account.Payments()), 1)
//		}, explore.PlatformOptions(fakes.WithInbox()))
//	}
//
// What happens at once is given to T.Go:
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
// # What a search promises
//
// The same seed is the same search, and the same round the same run: before anything is reported it is run
// again, and a property that comes to something else then is told as one that depends on more than
// the test. So is one that fails with nothing done to it. Variable runs a round again, as the test that
// failed prints it.
//
// A search finds faults; that it finds none proves nothing. It tries each single fault, and each single
// change of turns, those at operations first, and beside them several at once; what only a fault brings
// about, such as a second attempt, is made to fail next. Most faults of bots need one or two.
//
// # What it does not see
//
// A bot's own goroutines run beside the turn that started them, and clocks, random numbers and services that
// are not those of fakes are not under its control; T.Switch makes a point of a test's own fake.
package explore
