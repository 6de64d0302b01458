/** Files that the build imports as text. */
declare module '*.css' {
  const text: string;
  // oxlint-disable-next-line import/no-default-export -- how bundlers provide a file
  export default text;
}
declare module '*.html' {
  const text: string;
  // oxlint-disable-next-line import/no-default-export -- as above
  export default text;
}
