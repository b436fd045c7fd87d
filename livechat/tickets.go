package livechat

// DefaultTakenMessage is what tickets show once another one was taken, where the request
// gives no takenMessage, and on platforms other than Charlie.
const DefaultTakenMessage = "Taken by [adminName]."
