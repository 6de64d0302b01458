import type { Problem } from './validation.ts';

/**
 * Reduces the problems of a value that fits no branch of a union (`anyOf`). The validator reports
 * the problems of every branch and one for the union itself, although only one thing is wrong.
 *
 * If the value was evidently meant for one branch, because neither its type nor its constants
 * differ, that branch's problems are kept. Otherwise the types or constants of all branches are
 * listed.
 */
export function withoutBranches(problems: readonly Problem[]): Problem[] {
  const kept: Problem[] = [];
  for (const problem of problems) {
    // The problems of the branches come immediately before that of their union.
    if (problem.keyword === 'anyOf')
      kept.push(...problemsOfUnion(problem, takeBranches(kept, problem)));
    else kept.push(problem);
  }
  return kept;
}

/** Removes the problems of the union's branches from the end of `kept`. */
function takeBranches(kept: Problem[], union: Problem): Problem[] {
  const isInside = ({ schemaPath, instancePath }: Problem) =>
    schemaPath.startsWith(`${union.schemaPath}/`) && instancePath.startsWith(union.instancePath);
  const start = kept.findLastIndex((problem) => !isInside(problem)) + 1;
  return kept.splice(start);
}

function problemsOfUnion(union: Problem, problems: readonly Problem[]): Problem[] {
  const branches = Map.groupBy(problems, ({ schemaPath }) =>
    schemaPath.slice(union.schemaPath.length + 1).replace(/\/.*/s, ''),
  );
  const meant = [...branches.values()]
    .filter((branch) => !branch.some((problem) => tellsApart(problem, union)))
    .toSorted((a, b) => a.length - b.length)[0];
  if (meant !== undefined) return meant;
  return [mergeAll(union, problems)];
}

/** Returns whether a problem shows that the value is meant for another branch. */
function tellsApart({ keyword, instancePath }: Problem, union: Problem): boolean {
  if (keyword === 'type') return instancePath === union.instancePath;
  return keyword === 'const' && !instancePath.slice(union.instancePath.length + 1).includes('/');
}

function mergeAll(union: Problem, problems: readonly Problem[]): Problem {
  const [constant] = problems.filter(({ keyword }) => keyword === 'const');
  if (constant !== undefined) {
    const same = problems.filter(
      ({ keyword, instancePath }) => keyword === 'const' && instancePath === constant.instancePath,
    );
    const allowedValues = [...new Set(same.map(({ params }) => params['allowedValue'] as unknown))];
    return { ...constant, keyword: 'enum', params: { allowedValues } };
  }
  const types = new Set(problems.flatMap(({ params }) => String(params['type']).split(',')));
  return { ...union, keyword: 'type', params: { type: [...types].join(',') } };
}
