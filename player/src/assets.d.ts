/** Files that the build turns into text. */
declare module '*.css' {
  const text: string;
  // oxlint-disable-next-line import/no-default-export -- how bundlers hand over a file
  export default text;
}
declare module '*.html' {
  const text: string;
  // oxlint-disable-next-line import/no-default-export -- as above
  export default text;
}
