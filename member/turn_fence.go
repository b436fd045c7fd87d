package member

// FieldTurnFence is a field of stored members that is no affair of bots, and that no operation shows: of
// those of whom a run never came back, the fencing token of the turn that was taken over from it. What
// that run still writes back, if it lives, finds no member.
const FieldTurnFence = "turnFence"
