/**
 * Finds the tables that SQL names. The text is split into tokens like PostgreSQL does, and the name
 * of a known table counts wherever a table name can appear. This also works on fragments, which
 * templates contain.
 */
import {
  Visitor,
  type Argument,
  type ArrayExpressionElement,
  type Expression,
  type Program,
  type TemplateLiteral as Template,
} from 'oxc-parser';

/**
 * Skips comments, strings and the quotes around function bodies, but not the bodies, which are SQL.
 */
const token =
  /--.*|\/\*[\s\S]*?\*\/|\be'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|\$\w*\$|"(?<quoted>(?:[^"]|"")+)"|(?<plain>[a-z_][\w$]*|\S)/gi;

/** Keywords that precede a table name or its schema, apart from commas. */
const beforeTables = new Set(
  'from join into update using only exists on table view truncate lock copy references'.split(' '),
);
/** Clauses whose commas separate something other than tables. */
const otherClauses = new Set([
  'select',
  'returning',
  'set',
  'where',
  'by',
  'having',
  'values',
  'with',
]);
const clausesOfTables = new Set(['from', 'using', 'truncate', 'lock', 'table', 'only']);

/** The known tables that this SQL names: unquoted, quoted, or after the name of a schema. */
export function tablesInSql(sql: string, known: ReadonlySet<string>): string[] {
  const tokens = Array.from(
    sql.matchAll(token),
    ({ groups: { quoted, plain } = {} }) =>
      quoted?.replaceAll('""', '"') ?? plain?.toLowerCase() ?? '',
  ).filter((text) => text !== '');
  return tokens.filter((name, index) => {
    // A name before a dot is a schema, or a table that is named elsewhere as well.
    if (!known.has(name) || tokens[index + 1] === '.') return false;
    const isQualified = tokens[index - 1] === '.';
    const before = tokens.slice(0, isQualified ? index - 2 : index);
    const last = before.findLast((text) => text !== '(');
    return last === ',' ? isListOfTables(before) : last === undefined || beforeTables.has(last);
  });
}

/** Whether a table name can follow these tokens, the last of which is a comma. */
function isListOfTables(tokens: readonly string[]): boolean {
  let depth = 0;
  for (const text of tokens.toReversed()) {
    if (text === ')') depth += 1;
    else if (text === '(') depth -= 1;
    if (depth < 0) return false;
    if (depth === 0 && otherClauses.has(text)) return false;
    if (depth === 0 && clausesOfTables.has(text)) return true;
  }
  return true;
}

/** The known tables named in SQL in templates and strings, or passed to a method of Kysely. */
export function tablesInSource(program: Program, known: ReadonlySet<string>): string[] {
  const found: string[] = [];
  const add = (sql: string) => found.push(...tablesInSql(sql, known));
  new Visitor({
    TaggedTemplateExpression({ tag, quasi }) {
      if (isSql(tag)) add(textOf(quasi));
    },
    TemplateLiteral(template) {
      if (beginsStatement.test(textOf(template))) add(textOf(template));
    },
    Literal({ value }) {
      if (typeof value === 'string' && beginsStatement.test(value)) add(value);
    },
    CallExpression({ callee, arguments: given }) {
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
      const { name } = callee.property;
      const takes = isSql(callee.object) ? /^(?:table|id|ref|raw)$/ : methodsWithTables;
      if (takes.test(name)) for (const text of stringsIn(given[0])) add(text);
    },
  }).visit(program);
  return found;
}

const beginsStatement =
  /^\s*(?:with|select|insert|update|delete|merge|truncate|copy|lock|alter|create|drop)\s+\S/i;

/** Methods of Kysely whose first argument names tables. */
const methodsWithTables = /^(?:\w+(?:From|Into|Table|Join|JoinLateral)|from|using)$/;

function isSql(node: Expression): boolean {
  return node.type === 'Identifier' && node.name === 'sql';
}

function textOf({ quasis }: Template): string {
  return quasis.map(({ value }) => value.cooked ?? '').join(' ? ');
}

function stringsIn(node: Argument | ArrayExpressionElement | undefined): string[] {
  if (node?.type === 'Literal' && typeof node.value === 'string') return [node.value];
  if (node?.type === 'TemplateLiteral') return [textOf(node)];
  return node?.type === 'ArrayExpression' ? node.elements.flatMap(stringsIn) : [];
}
