import { defined } from '../../lib/std/defined.ts';
import { textAt } from '../../lib/std/json.ts';
import { checkResource } from '../api/check-resource.ts';
import type { DiagnosisSpec } from '../api/diagnosis.ts';
import { API_VERSION } from '../api/kinds.ts';
import { placeText } from '../api/problem.ts';
import type { TriggerSpec } from '../api/trigger.ts';
import type { Alert } from './alert.ts';
import type { Read, Texts } from './given-texts.ts';
import { REPEAT_SECONDS } from './limits.ts';
import { diagnosisName, identityOf, type TriggerEvent, titleOf } from './trigger-event.ts';

export interface NamedTrigger {
  readonly name: string;
  readonly spec: TriggerSpec;
}

/** The one node on which we stand. */
export interface Here {
  readonly nodeName: string;
  /** Its host name and addresses: alerts often name a node by what Prometheus asks, "1.2.3.4:9100". */
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

/** Where every KubeDiag puts what a Trigger made. */
export const TRIGGERED_NAMESPACE = 'kubediag';

const PREFIX = 'diagnosis.kubediag.org';
const TRIGGER = `${PREFIX}/trigger`;
const IDENTITY = `${PREFIX}/trigger-identity`;

/** By what a repetition is known: this Trigger on this alert. Undefined when no Trigger made it. */
export function originIn(annotations: Texts = {}): string | undefined {
  const { [TRIGGER]: trigger, [IDENTITY]: identity } = annotations;
  return trigger && identity ? `${trigger} ${identity}` : undefined;
}

export function originOf({ name }: NamedTrigger, event: TriggerEvent): string {
  return `${name} ${identityOf(event)}`;
}

/** The Diagnosis that a Trigger makes of what it matched, or why it makes none. */
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
      ttlSecondsAfterFinished: REPEAT_SECONDS,
    }),
  };
  const [problem] = checkResource(diagnosis).problems;
  if (!problem) return { ok: true, value: diagnosis };
  const why = `${placeText(problem.place)} of the Diagnosis would be wrong: ${problem.what}`;
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
  // A pod that is named without its node is looked for here.
  if (podReference) return { ok: true, value: { podReference } };
  const why =
    'it names no node and no pod: give the Trigger spec.nodeName, or a label that is there';
  return { ok: false, why };
}

/** What the labels say to which the template points. */
function namedBy({ labels }: Alert, { sourceTemplate }: TriggerSpec): Target {
  const template = sourceTemplate.prometheusAlertTemplate;
  const said = (label = '') => (label === '' ? '' : (textAt(labels, label) ?? ''));
  const namespace = said(template?.podNamespaceReferenceLabel);
  const name = said(template?.podNameReferenceLabel);
  const container = said(template?.containerReferenceLabel);
  const podReference = { namespace, name, ...(container === '' ? {} : { container }) };
  return {
    nodeName: said(template?.nodeNameReferenceLabel),
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
  const args = `it is for node "${node}", and this is ${nodeName}: send it to the agent there`;
  return `${args}; if that is another name of this one, start serve with --node-name`;
}

/** Those of the Trigger, and over them the labels that it asks for. */
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
