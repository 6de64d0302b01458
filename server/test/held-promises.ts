/**
 * Finds promises that are started but not handled while something else happens. If such a promise
 * rejects in the meantime, or if what is awaited throws, its rejection is unhandled, which ends the
 * process. The lint rule `no-floating-promises` does not detect this, because the promise is
 * eventually awaited.
 *
 * A promise is started by a call that is assigned to a variable or property, added to a collection,
 * or listed among arguments or elements. It is held once it is awaited, returned or passed to a
 * function, has a `.catch` or a second argument of `.then`, or goes through `awaitedLater`. An
 * `await`, `yield`, `throw` or `return` in between is a finding. Textual order is used, which is
 * stricter with branches.
 */
import { API, type Checker } from 'typescript/unstable/sync';
import {
  isArrayLiteralExpression,
  isArrowFunction,
  isAwaitExpression,
  isBinaryExpression,
  isBindingElement,
  isCallExpression,
  isConstructorDeclaration,
  isForOfStatement,
  isForStatement,
  isFunctionDeclaration,
  isFunctionExpression,
  isGetAccessorDeclaration,
  isIdentifier,
  isIfStatement,
  isMethodDeclaration,
  isNewExpression,
  isObjectBindingPattern,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isReturnStatement,
  isThrowStatement,
  isVariableDeclaration,
  isVariableDeclarationList,
  isWhileStatement,
  isYieldExpression,
  NodeFlags,
  SyntaxKind,
  type Node,
  type SourceFile,
} from 'typescript/unstable/ast';

export type Finding = { file: string; line: number; text: string };

/** Collection methods: they keep their arguments without handling them. */
const keepers = new Set(['push', 'unshift', 'add', 'set']);

/** Examines the project's files selected by `isWanted`. */
export function findHeldPromises(
  configFile: string,
  isWanted: (file: string) => boolean,
): Finding[] {
  const api = new API();
  try {
    const project = api.updateSnapshot({ openProjects: [configFile] }).getProject(configFile);
    if (project === undefined) throw new Error(`no such project: ${configFile}`);
    const { program, checker } = project;
    return program
      .getSourceFileNames()
      .filter(isWanted)
      .flatMap((name) => {
        const file = program.getSourceFile(name);
        return file === undefined ? [] : examineFile(file, checker);
      });
  } finally {
    api.close();
  }
}

/** A promise started at `node`. `name` is the variable or property that holds it, if any. */
type Start = { node: Node; name: string | null; value: Node };

function examineFile(file: SourceFile, checker: Checker): Finding[] {
  const found = new Set<Node>();
  for (const body of functionsOf(file)) {
    const nodes = ownNodes(body);
    for (const start of nodes.flatMap(startsAt)) {
      const isFinding = isLeftAlone(start, nodes) && holdsPromise(start.value, checker);
      if (isFinding) found.add(start.node);
    }
  }
  return Array.from(found, (node) => {
    const at = node.getStart(file);
    const line = file.text.slice(0, at).split('\n').length;
    return { file: file.fileName, line, text: file.text.slice(at).split('\n')[0] ?? '' };
  });
}

/** The file itself and every function in it. */
function functionsOf(file: SourceFile): Node[] {
  const found: Node[] = [file];
  const visit = (node: Node): void => {
    if (isFunction(node)) found.push(node);
    node.forEachChild(visit);
  };
  file.forEachChild(visit);
  return found;
}

function isFunction(node: Node): boolean {
  return (
    isArrowFunction(node) ||
    isFunctionExpression(node) ||
    isFunctionDeclaration(node) ||
    isMethodDeclaration(node) ||
    isGetAccessorDeclaration(node) ||
    isConstructorDeclaration(node)
  );
}

/** Nodes of a function or expression in textual order, excluding nested functions. */
function ownNodes(root: Node): Node[] {
  const found: Node[] = [];
  const visit = (node: Node): void => {
    if (isFunction(node)) return;
    found.push(node);
    node.forEachChild(visit);
  };
  root.forEachChild(visit);
  return found;
}

function startsAt(node: Node): Start[] {
  if (isVariableDeclaration(node)) {
    if (node.initializer === undefined || !startsWork(node.initializer)) return [];
    if (!isObjectBindingPattern(node.name)) {
      return [{ node, name: node.name.getText(), value: node.initializer }];
    }
    return node.name.elements.flatMap((element) =>
      isBindingElement(element) && element.name !== undefined
        ? [{ node, name: element.name.getText(), value: element.name }]
        : [],
    );
  }
  if (isBinaryExpression(node) && isAssignment(node.operatorToken.kind) && startsWork(node.right)) {
    return [{ node, name: node.left.getText(), value: node.right }];
  }
  const collection = collectionOf(node);
  if (collection !== null && isCallExpression(node)) {
    return node.arguments
      .filter(startsWork)
      .map((value) => ({ node, name: collection.getText(), value }));
  }
  return startsAmongOthers(node);
}

/** Elements are evaluated in order: an `await` in a later one leaves earlier ones unhandled. */
function startsAmongOthers(node: Node): Start[] {
  const elements = elementsOf(node);
  return elements.slice(0, -1).flatMap((element, index) => {
    const value = isPropertyAssignment(element) ? element.initializer : element;
    const later = elements.slice(index + 1).flatMap((one) => [one, ...ownNodes(one)]);
    return startsWork(value) && later.some((one) => isPause(one) && !isInFunction(one, node))
      ? [{ node: value, name: null, value }]
      : [];
  });
}

function elementsOf(node: Node): Node[] {
  if (isCallExpression(node) || isNewExpression(node)) return [...(node.arguments ?? [])];
  if (isArrayLiteralExpression(node)) return [...node.elements];
  return isObjectLiteralExpression(node) ? [...node.properties] : [];
}

function isInFunction(node: Node, below: Node): boolean {
  for (let at = node; at !== below; at = at.parent) if (isFunction(at)) return true;
  return false;
}

function isAssignment(kind: SyntaxKind): boolean {
  return kind === SyntaxKind.EqualsToken || kind === SyntaxKind.QuestionQuestionEqualsToken;
}

/** The collection to which a call adds something, or null. */
function collectionOf(node: Node): Node | null {
  if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return null;
  return keepers.has(node.expression.name.getText()) ? node.expression.expression : null;
}

/** Whether an expression calls something that may fail later, apart from what it awaits. */
function startsWork(node: Node): boolean {
  if (isAwaitExpression(node) || isFunction(node)) return false;
  if (isNewExpression(node)) return !canOnlyResolve(node);
  if (isCallExpression(node)) return !listens(node) && !canOnlyResolve(node);
  let found = false;
  node.forEachChild((child) => {
    found ||= startsWork(child);
  });
  return found;
}

/** `new Promise((resolve) => …)` and `Promise.resolve(…)`. */
function canOnlyResolve(node: Node): boolean {
  if (isCallExpression(node)) return node.expression.getText() === 'Promise.resolve';
  if (!isNewExpression(node) || node.expression.getText() !== 'Promise') return false;
  const [executor] = node.arguments ?? [];
  return executor !== undefined && isArrowFunction(executor) && executor.parameters.length < 2;
}

/** Whether a call handles the rejection of the promise that it is called on or passed. */
function listens(node: Node): boolean {
  if (!isCallExpression(node)) return false;
  if (!isPropertyAccessExpression(node.expression)) {
    return node.expression.getText() === 'awaitedLater';
  }
  const name = node.expression.name.getText();
  if (name === 'finally') return listens(node.expression.expression);
  return name === 'catch' || (name === 'then' && node.arguments.length > 1);
}

/** Whether the value is or may be a promise or an array of promises. */
function holdsPromise(value: Node, checker: Checker): boolean {
  const type = checker.getTypeAtLocation(value);
  if (type === undefined) return false;
  // Uses the type's text, because the compiler API can't list the members of every union.
  const members = checker.typeToString(type).split(' | ');
  return members.some((one) => /^(readonly )?[[(]*Promise(WithResolvers)?</.test(one));
}

/** The points at which a function is suspended or left. */
function isPause(node: Node): boolean {
  return (
    isAwaitExpression(node) ||
    isYieldExpression(node) ||
    isThrowStatement(node) ||
    isReturnStatement(node) ||
    (isForOfStatement(node) && node.awaitModifier !== undefined) ||
    (isVariableDeclarationList(node) &&
      Number(node.flags & NodeFlags.AwaitUsing) === Number(NodeFlags.AwaitUsing))
  );
}

function isLeftAlone({ node, name }: Start, nodes: readonly Node[]): boolean {
  if (name === null) return true;
  const pauses = nodes.filter(isPause);
  // The next iteration may fail while promises collected by this one wait for the end.
  const loop = collectionOf(node) === null ? null : loopAround(node);
  if (loop !== null && pauses.some((pause) => contains(loop, pause))) return true;
  if (heldBy(node) !== null) return false;
  const holder = nodes
    .filter((one) => one.pos >= node.end && isReference(one) && one.getText() === name)
    .map(heldBy)
    .find((one) => one !== null);
  if (holder === undefined || holder === null) return true;
  return pauses.some(
    (pause) =>
      pause.pos >= node.end &&
      pause.end <= holder.end &&
      !contains(pause, holder) &&
      !isGuard(pause, name),
  );
}

function isReference(node: Node): boolean {
  return isIdentifier(node) || isPropertyAccessExpression(node);
}

function contains(outer: Node, inner: Node): boolean {
  return outer.pos <= inner.pos && outer.end >= inner.end;
}

/** Whether a pause depends on the variable itself, such as `if (reading === null) return`. */
function isGuard(pause: Node, name: string): boolean {
  for (let at = pause.parent; !isFunction(at) && at.parent !== undefined; at = at.parent) {
    if (!isIfStatement(at)) continue;
    const { expression } = at;
    if ([expression, ...ownNodes(expression)].some((one) => one.getText() === name)) return true;
  }
  return false;
}

function loopAround(node: Node): Node | null {
  for (let at = node.parent; at !== undefined && !isFunction(at); at = at.parent) {
    if (isForOfStatement(at) || isForStatement(at) || isWhileStatement(at)) return at;
  }
  return null;
}

/** The expression or statement that handles the promise of this reference, or null. */
function heldBy(reference: Node): Node | null {
  for (let node = reference; ; node = node.parent) {
    const { parent } = node;
    if (parent === undefined || isForOfStatement(parent)) return null;
    if (isAwaitExpression(parent) || isReturnStatement(parent) || listens(parent)) return parent;
    if (isArrowFunction(parent) && parent.body === node) return parent;
    if (isCallExpression(parent) && parent.expression !== node) {
      return collectionOf(parent) === null ? parent : null;
    }
    const isStatement =
      parent.kind >= SyntaxKind.FirstStatement && parent.kind <= SyntaxKind.LastStatement;
    if (isStatement || isVariableDeclaration(parent) || isFunction(parent)) return null;
  }
}
