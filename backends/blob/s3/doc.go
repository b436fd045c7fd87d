// Package s3 keeps the files of uploadFileToObjectStore in S3, or in a store that speaks its
// protocol: Open returns a blob.Store over a bucket there.
//
//   - To open a bucket, use [Open] with a [Config].
//   - To use another provider than AWS, set Endpoint of [Config].
//
// A host has it so:
//
//	store, err := s3.Open(ctx, s3.Config{
//		Bucket: "example-bots",
//		Region: "eu-central-1",
//	})
//	...
//	defer store.Close()
//	platform, err := botctx.New(botctx.Config{ObjectStore: store, ...})
//
// It is a module of its own, so that only its users link the client of S3.
//
// A file larger than 5 MiB is sent in parts. Parts of an upload that was cut off may stay in
// the bucket, where nobody sees them and they cost money: give the bucket a lifecycle rule
// that aborts incomplete multipart uploads after a day.
package s3
