import { fieldAt, jsonValue } from '../../lib/std/json.ts';
import { shortId } from '../../lib/std/short-id.ts';
import type { Action } from '../model/action.ts';
import { attempt, type Snapshot } from '../model/evidence.ts';
import type { ActionContext, ActionFailure } from './handler.ts';

/**
 * Saves what the runtime knows of a container and its sandbox, as `crictl inspect` and `inspectp`
 * print it, complete: what is removed can be recreated from it. So it stays on this node.
 */
export async function saveInspection(
  { socket, container, sandbox }: Action<'remove-container'>,
  snapshot: Snapshot,
  { keep, note }: ActionContext,
): Promise<ActionFailure | undefined> {
  const asked = { socket, call: 'ContainerStatus', id: container, verbose: true } as const;
  const status = await attempt(snapshot.node.ask('runtime', asked));
  if (!status.known) return unstored(status.why);
  const pod = { socket, call: 'PodSandboxStatus', id: sandbox } as const;
  const around = sandbox === '' ? undefined : await attempt(snapshot.node.ask('runtime', pod));
  const text = JSON.stringify(
    {
      container: inspected(status.value.message),
      sandbox: around?.known ? inspected(around.value.message) : { why: around?.why ?? 'none' },
    },
    null,
    2,
  );
  const stored = await keep?.(`container-${shortId(container)}.json`, `${text}\n`);
  if (!stored?.ok) return unstored(stored?.why ?? 'there is no place for it');
  note?.(`what the runtime knew of it is saved in ${stored.value}, with what is secret in it`);
  return undefined;
}

/** The runtime's own words are JSON, as a rule. */
function inspected(message: unknown) {
  const info = fieldAt(message, 'info');
  const reported = Object.entries(
    (info as Readonly<Record<string, unknown>> | undefined) ?? {},
  ).map(([name, value]): readonly [string, unknown] => [
    name,
    typeof value === 'string' ? (jsonValue(value)?.value ?? value) : value,
  ]);
  return { status: fieldAt(message, 'status'), info: Object.fromEntries<unknown>(reported) };
}

function unstored(why: string): ActionFailure {
  const what = 'what the runtime knows of the container could not be saved, so it was not removed';
  return { what, why, todo: 'make sure that it can be read and written, then recover again' };
}
