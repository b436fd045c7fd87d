package simulator

// processPlays are what becomes of the process of the bot, and of what was accepted and given up.
func processPlays() map[string]reader {
	return map[string]reader{
		"crash":             of(crash),
		"restart":           of(restart),
		"retryDeadLetter":   of(retryDeadLetter),
		"discardDeadLetter": of(discardDeadLetter),
	}
}

func crash(b *branch, _ struct{}) (moment, error) {
	b.platform.Crash()
	return moment{what: "The process crashes", isDown: true, isUnsaved: true}, nil
}

func restart(b *branch, _ struct{}) (moment, error) {
	b.platform.Restart()
	return moment{what: "The process starts again", isStart: true, isUnsaved: true}, nil
}

// letterWith is a dead letter.
type letterWith struct {
	ID string `json:"id"`
}

func retryDeadLetter(b *branch, with letterWith) (moment, error) {
	b.platform.RetryDeadLetter(with.ID)
	return moment{what: "A dead letter is to be tried again: let time pass", isUnsaved: true}, nil
}

func discardDeadLetter(b *branch, with letterWith) (moment, error) {
	b.platform.DiscardDeadLetter(with.ID)
	return moment{what: "A dead letter is discarded", isUnsaved: true}, nil
}
