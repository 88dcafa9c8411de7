import { listAt, textAt } from '../../src/lib/std/json.ts';
import { shortId } from '../../src/lib/std/short-id.ts';
import type { Break } from '../break.ts';

/** The placeholder in `recoverWith` for the container of the finding. */
const CONTAINER = 'CONTAINER';

/** The command that repairs a break, with ids from the report. */
export function recoverArguments(
  { fault, expected }: Pick<Break, 'fault' | 'expected'>,
  report: unknown,
): readonly string[] {
  const container = containerOf(fault, report);
  const more = (expected.recoverWith ?? []).map((word) =>
    word === CONTAINER ? shortId(container ?? word) : word,
  );
  return ['recover', fault, '--yes', ...more];
}

function containerOf(fault: string, report: unknown): string | undefined {
  const faults = listAt(report, 'faults') ?? [];
  const own = faults.find((each) => textAt(each, 'name') === fault);
  return (listAt(own, 'findings') ?? [])
    .flatMap((finding) => listAt(finding, 'actions') ?? [])
    .map((action) => textAt(action, 'container'))
    .find((container) => container !== undefined);
}
