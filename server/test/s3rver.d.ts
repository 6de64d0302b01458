/** Types for the parts of an untyped package that tests use. */
declare module '@20minutes/s3rver' {
  type Options = {
    address: string;
    port: number;
    silent: boolean;
    allowMismatchedSignatures: boolean;
    directory: string;
    configureBuckets: { name: string }[];
  };
  const S3rver: new (options: Options) => {
    run(): Promise<{ port: number }>;
    close(): Promise<void>;
  };
  export default S3rver;
}
