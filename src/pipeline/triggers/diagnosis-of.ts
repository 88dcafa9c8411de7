import { defined } from '../../lib/std/defined.ts';
import { textAt } from '../../lib/std/json.ts';
import { checkResource } from '../api/check-resource.ts';
import type { DiagnosisSpec } from '../api/diagnosis.ts';
import { API_VERSION } from '../api/kinds.ts';
import { placeText } from '../api/problem.ts';
import type { TriggerSpec } from '../api/trigger.ts';
import type { Alert } from './alert.ts';
import type { Read, Texts } from './given-texts.ts';
import { TTL_SECONDS } from './limits.ts';
import { diagnosisName, identityOf, type TriggerEvent, titleOf } from './trigger-event.ts';

export interface NamedTrigger {
  readonly name: string;
  readonly spec: TriggerSpec;
}

/** The node of this agent. */
export interface Here {
  readonly nodeName: string;
  /** Its host name and addresses: alerts often name a node by its scrape target, "1.2.3.4:9100". */
  readonly otherNames: readonly string[];
}

export interface TriggeredDiagnosis {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: 'Diagnosis';
  readonly metadata: {
    readonly name: string;
    readonly namespace: typeof TRIGGERED_NAMESPACE;
    readonly annotations: Texts;
  };
  readonly spec: DiagnosisSpec;
}

/** The namespace of all Diagnoses from Triggers, in every KubeDiag. */
export const TRIGGERED_NAMESPACE = 'kubediag';

const PREFIX = 'diagnosis.kubediag.org';
const TRIGGER = `${PREFIX}/trigger`;
const IDENTITY = `${PREFIX}/trigger-identity`;

/** Identifies repeats: this Trigger on this alert. Undefined for a Diagnosis without a Trigger. */
export function originIn(annotations: Texts = {}): string | undefined {
  const { [TRIGGER]: trigger, [IDENTITY]: identity } = annotations;
  return trigger && identity ? `${trigger} ${identity}` : undefined;
}

export function originOf({ name }: NamedTrigger, event: TriggerEvent): string {
  return `${name} ${identityOf(event)}`;
}

/** The Diagnosis that a Trigger creates from a matching event, or why it creates none. */
export function diagnosisOf(
  trigger: NamedTrigger,
  event: TriggerEvent,
  here: Here,
  { now, nameChoice = 1 }: { readonly now: Date; readonly nameChoice?: number },
): Read<TriggeredDiagnosis> {
  const target = targetOf(trigger.spec, event, here);
  if (!target.ok) return target;
  const name = diagnosisName(event, now, nameChoice);
  const args =
    event.source === 'prometheusAlertTemplate'
      ? { [`${PREFIX}/prometheus-alert`]: titleOf(event) }
      : { [`${PREFIX}/common-event`]: name };
  const annotations = { ...args, [TRIGGER]: trigger.name, [IDENTITY]: identityOf(event) };
  const parameters = parametersOf(trigger.spec, event);
  const { operationSet, recovery } = trigger.spec;
  const diagnosis: TriggeredDiagnosis = {
    apiVersion: API_VERSION,
    kind: 'Diagnosis',
    metadata: { name, namespace: TRIGGERED_NAMESPACE, annotations },
    spec: defined({
      operationSet,
      ...target.value,
      recovery,
      ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
      ttlSecondsAfterFinished: TTL_SECONDS,
    }),
  };
  const [problem] = checkResource(diagnosis).problems;
  if (!problem) return { ok: true, value: diagnosis };
  const why = `${placeText(problem.place)} of the Diagnosis would be invalid: ${problem.what}`;
  return { ok: false, why };
}

type Target = Pick<DiagnosisSpec, 'nodeName' | 'podReference'>;

function targetOf(spec: TriggerSpec, event: TriggerEvent, here: Here): Read<Target> {
  const named = event.source === 'prometheusAlertTemplate' ? namedBy(event.what, spec) : {};
  const node = named.nodeName || spec.nodeName || '';
  const { podReference } = named;
  if (node !== '') {
    if (!isHere(node, here)) return { ok: false, why: elsewhere(node, here) };
    const { nodeName } = here;
    return { ok: true, value: { nodeName, ...(podReference ? { podReference } : {}) } };
  }
  // A pod without a node is looked for on this one.
  if (podReference) return { ok: true, value: { podReference } };
  const why =
    'the event names no node and no pod: set spec.nodeName of the Trigger, or use a label that exists';
  return { ok: false, why };
}

/** The node and the pod in the labels that the template names. */
function namedBy({ labels }: Alert, { sourceTemplate }: TriggerSpec): Target {
  const template = sourceTemplate.prometheusAlertTemplate;
  const textOf = (label = '') => (label === '' ? '' : (textAt(labels, label) ?? ''));
  const namespace = textOf(template?.podNamespaceReferenceLabel);
  const name = textOf(template?.podNameReferenceLabel);
  const container = textOf(template?.containerReferenceLabel);
  const podReference = { namespace, name, ...(container === '' ? {} : { container }) };
  return {
    nodeName: textOf(template?.nodeNameReferenceLabel),
    ...(namespace === '' || name === '' ? {} : { podReference }),
  };
}

// 1.2.3.4:9100, [fe80::1]:9100, my-node:9100
const WITH_PORT = /^(?:\[([\da-fA-F:.]+)\]|([^:]+)):\d{1,5}$/;

function isHere(named: string, { nodeName, otherNames }: Here): boolean {
  const [, address, name] = WITH_PORT.exec(named) ?? [];
  const bare = (address ?? name ?? named).toLowerCase();
  return [nodeName, ...otherNames].some((own) => own.toLowerCase() === bare);
}

function elsewhere(node: string, { nodeName }: Here): string {
  const why = `node "${node}": not this node (this is ${nodeName}); send the event to the agent there`;
  return `${why}. If that is another name of this node, start serve with --node-name`;
}

/** The parameters of the Trigger, overridden by the labels that it injects. */
function parametersOf({ parameters, sourceTemplate }: TriggerSpec, event: TriggerEvent): Texts {
  if (event.source !== 'prometheusAlertTemplate') return parameters ?? {};
  const { labels } = event.what;
  const wanted = sourceTemplate.prometheusAlertTemplate?.parameterInjectionLabels ?? [];
  const injected = wanted.flatMap((label) => {
    const text = textAt(labels, label);
    return text === undefined ? [] : [[label, text] as const];
  });
  return { ...parameters, ...Object.fromEntries(injected) };
}
