import type { LabelSelector } from './fields.ts';

type Labels = Readonly<Record<string, string>>;
type Expression = NonNullable<LabelSelector['matchExpressions']>[number];

// app, app.kubernetes.io/name
const KEY =
  /^((?=[^/]{1,253}\/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(?=[^/]{1,63}$)[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

// web, v1.2_3, and the empty value
const VALUE = /^(?=.{0,63}$)([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;

/** Why Kubernetes would refuse a selector; undefined if it would not. */
export function selectorProblem(selector: LabelSelector): string | undefined {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const equal = Object.entries(matchLabels).map(([key, value]) => ({
    key,
    operator: 'In' as const,
    values: [value],
  }));
  for (const { key, operator, values = [] } of [...equal, ...matchExpressions]) {
    if (!KEY.test(key)) return `"${key}" is not a valid key of a label`;
    const needsValues = operator === 'In' || operator === 'NotIn';
    if (needsValues && values.length === 0) return `operator ${operator} of ${key} needs values`;
    if (!needsValues && values.length > 0) return `operator ${operator} of ${key} has no values`;
    const odd = values.find((value) => !VALUE.test(value));
    if (odd !== undefined) return `"${odd}" is not a valid value of label ${key}`;
  }
  return undefined;
}

/** Whether labels match a selector, with the rules of Kubernetes: NotIn also matches an absent label. */
export function matchesLabels(selector: LabelSelector, labels: Labels): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const has = (key: string) => Object.hasOwn(labels, key);
  return (
    Object.entries(matchLabels).every(([key, value]) => has(key) && labels[key] === value) &&
    matchExpressions.every((expression) => matches(expression, labels, has(expression.key)))
  );
}

function matches({ key, operator, values = [] }: Expression, labels: Labels, has: boolean) {
  switch (operator) {
    case 'Exists':
      return has;
    case 'DoesNotExist':
      return !has;
    case 'In':
      return has && values.includes(labels[key] ?? '');
    case 'NotIn':
      return !has || !values.includes(labels[key] ?? '');
  }
}

/** As a query of the API server: "app=web,tier in (a,b),!old". */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const equal = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  return [...equal, ...matchExpressions.map(expressionText)].join(',');
}

function expressionText({ key, operator, values = [] }: Expression): string {
  switch (operator) {
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    case 'In':
      return `${key} in (${values.join(',')})`;
    case 'NotIn':
      return `${key} notin (${values.join(',')})`;
  }
}
