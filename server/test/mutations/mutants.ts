/** The mutants of a source file: each one a small change that a test should notice. */
import { parseAst } from 'rolldown/parseAst';

export type Mutant = { start: number; end: number; text: string };

type Node = { type: string; start: number; end: number; [field: string]: unknown };

const replacements: Record<string, string> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '+=': '-=',
  '-=': '+=',
  '*=': '/=',
  '/=': '*=',
};

export function mutantsOf(source: string): Mutant[] {
  const found: Mutant[] = [];
  walk(parseAst(source, { lang: 'ts' }), source, found);
  return found;
}

function walk(value: unknown, source: string, found: Mutant[]): void {
  if (Array.isArray(value)) {
    for (const one of value) walk(one, source, found);
    return;
  }
  if (!isNode(value) || isWithoutEffect(value)) return;
  // Only the expression of `a as B` and `a!` exists at run time.
  if (value.type.startsWith('TS')) return walk(value['expression'], source, found);
  found.push(...mutantsAt(value, source));
  for (const inner of Object.values(value)) walk(inner, source, found);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** Code that only communicates: imports, error messages, log lines. */
function isWithoutEffect(node: Node): boolean {
  if (node.type === 'ImportDeclaration') return true;
  if (node.type === 'NewExpression') return nameOf(node['callee']).endsWith('Error');
  return node.type === 'CallExpression' && /(^|\.)#?log\.\w+$/.test(nameOf(node['callee']));
}

function nameOf(value: unknown): string {
  if (!isNode(value)) return '';
  if (value.type === 'MemberExpression') {
    return `${nameOf(value['object'])}.${nameOf(value['property'])}`;
  }
  return typeof value['name'] === 'string' ? value['name'] : '';
}

function mutantsAt(node: Node, source: string): Mutant[] {
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
    case 'AssignmentExpression':
      return operatorMutants(node, source);
    case 'Literal':
      return typeof node['value'] === 'boolean' ? [replace(node, String(!node['value']))] : [];
    case 'ReturnStatement':
      return node['argument'] === null ? [replace(node, ';')] : constantMutants(node['argument']);
    case 'ArrowFunctionExpression':
      return constantMutants(node['body']);
    case 'ExpressionStatement':
      return isRemovable(node) ? [replace(node, ';')] : [];
    case 'ContinueStatement':
      return [replace(node, ';')];
    default:
      return [];
  }
}

function operatorMutants(node: Node, source: string): Mutant[] {
  const { left, right, operator } = node;
  const text = replacements[String(operator)];
  if (text === undefined || !isNode(left) || !isNode(right)) return [];
  const joinsTexts = [left, right].some(
    (side) => side.type === 'TemplateLiteral' || typeof side['value'] === 'string',
  );
  if (joinsTexts && (operator === '+' || operator === '+=')) return [];
  const start = source.indexOf(String(operator), left.end);
  return [{ start, end: start + String(operator).length, text }];
}

/** Mutates returned constants: the next number, an empty text, `undefined` for null. */
function constantMutants(value: unknown): Mutant[] {
  if (!isNode(value) || value.type !== 'Literal') return [];
  const constant = value['value'];
  if (typeof constant === 'number') return [replace(value, String(constant + 1))];
  if (typeof constant === 'string' && constant !== '') return [replace(value, "''")];
  return constant === null ? [replace(value, 'undefined')] : [];
}

function isRemovable(statement: Node): boolean {
  const { expression } = statement;
  return isNode(expression) && expression.type !== 'Literal' && !isWithoutEffect(expression);
}

function replace({ start, end }: Node, text: string): Mutant {
  return { start, end, text };
}
