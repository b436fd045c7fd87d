package botctxtest

var redirectInputRules = []Rule{}
