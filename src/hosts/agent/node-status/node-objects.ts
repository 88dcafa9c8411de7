import { fieldAt, listAt, textAt } from '../../../lib/std/json.ts';
import { NODE_CONDITION } from '../../../pipeline/api/cluster-names.ts';
import { GROUP, VERSION } from '../../../pipeline/api/kinds.ts';
import { type NodeReportStatus, nodeReportStatus } from '../../../pipeline/api/node-report.ts';
import type { KubeClient } from '../../../pipeline/kube/kube-client.ts';
import { answerOf } from '../../../pipeline/store/store-answer.ts';
import type { NodeFaultCondition } from './published-state.ts';

/** A condition as it is in the status of a Node. */
export interface WrittenCondition extends NodeFaultCondition {
  readonly lastTransitionTime: string;
}

const API_VERSION = `${GROUP}/${VERSION}`;
const FIELD_MANAGER = 'kubediag-agent';

/** The objects of the API server that say what is wrong with one node. */
export class NodeObjects {
  readonly #client: KubeClient;
  readonly #name: string;
  #nodeUid = '';

  constructor(client: KubeClient, nodeName: string) {
    this.#client = client;
    this.#name = nodeName;
  }

  /** As the API server answered last: a Node that is deleted and created again has another one. */
  get nodeUid(): string {
    return this.#nodeUid;
  }

  /** Its condition. Rejects if the Node does not exist. */
  async readNode(): Promise<WrittenCondition | undefined> {
    const node = await this.#client.request({ method: 'GET', path: this.#nodePath });
    this.#seeNode(node);
    const conditions = listAt(node, 'status', 'conditions') ?? [];
    return conditionIn(conditions.find((each) => textAt(each, 'type') === NODE_CONDITION));
  }

  /** Changes no other condition. */
  async writeCondition(condition: WrittenCondition, now: string): Promise<void> {
    const ours = { type: NODE_CONDITION, ...condition, lastHeartbeatTime: now };
    const node = await this.#client.request({
      method: 'PATCH',
      path: `${this.#nodePath}/status`,
      query: { fieldManager: FIELD_MANAGER },
      // It merges conditions by their type.
      contentType: 'application/strategic-merge-patch+json',
      body: { status: { conditions: [ours] } },
    });
    this.#seeNode(node);
  }

  /** Undefined if there is none, or none that this version can read. */
  async report(): Promise<NodeReportStatus | undefined> {
    const request = this.#client.request({ method: 'GET', path: this.#reportPath });
    const answer = await answerOf(request);
    if (!answer.ok && answer.error.reason !== 'NotFound') throw answer.error;
    const parsed = nodeReportStatus.safeParse(answer.ok && fieldAt(answer.value, 'status'));
    return parsed.success ? parsed.data : undefined;
  }

  async writeReport(status: NodeReportStatus): Promise<void> {
    const written = await answerOf(this.#writeExisting(status));
    if (written.ok) return;
    if (written.error.reason !== 'NotFound') throw written.error;
    await this.#createReport();
    await this.#applyStatus(status);
  }

  /** Kubernetes deletes a report whose owner is a Node that was deleted, some time after it. */
  async #writeExisting(status: NodeReportStatus): Promise<void> {
    const [owner] = listAt(await this.#applyStatus(status), 'metadata', 'ownerReferences') ?? [];
    const ownerUid = textAt(owner, 'uid');
    if (ownerUid === this.#nodeUid) return;
    await this.readNode();
    if (ownerUid === this.#nodeUid) return;
    await this.#client.request({
      method: 'PATCH',
      path: this.#reportPath,
      query: { fieldManager: FIELD_MANAGER },
      contentType: 'application/merge-patch+json',
      body: { metadata: { ownerReferences: [this.#owner] } },
    });
  }

  #applyStatus(status: NodeReportStatus): Promise<unknown> {
    const metadata = { name: this.#name };
    return this.#client.request({
      method: 'PATCH',
      path: `${this.#reportPath}/status`,
      query: { fieldManager: FIELD_MANAGER, force: 'true' },
      contentType: 'application/apply-patch+yaml',
      body: { apiVersion: API_VERSION, kind: 'NodeReport', metadata, status },
    });
  }

  /** It is deleted with its Node. */
  async #createReport(): Promise<void> {
    await this.readNode();
    const metadata = { name: this.#name, ownerReferences: [this.#owner] };
    const body = { apiVersion: API_VERSION, kind: 'NodeReport', metadata };
    const answer = await answerOf(
      this.#client.request({
        method: 'POST',
        path: REPORTS,
        query: { fieldManager: FIELD_MANAGER },
        body,
      }),
    );
    if (!answer.ok && answer.error.reason !== 'AlreadyExists') throw answer.error;
  }

  #seeNode(node: unknown): void {
    this.#nodeUid = textAt(node, 'metadata', 'uid') ?? '';
  }

  get #owner() {
    return { apiVersion: 'v1', kind: 'Node', name: this.#name, uid: this.#nodeUid };
  }

  get #nodePath(): string {
    return `/api/v1/nodes/${this.#name}`;
  }

  get #reportPath(): string {
    return `${REPORTS}/${this.#name}`;
  }
}

const REPORTS = `/apis/${API_VERSION}/nodereports`;

function conditionIn(condition: unknown): WrittenCondition | undefined {
  const status = textAt(condition, 'status');
  if (status !== 'True' && status !== 'False' && status !== 'Unknown') return undefined;
  return {
    status,
    reason: textAt(condition, 'reason') ?? '',
    message: textAt(condition, 'message') ?? '',
    // The API server refuses an empty one.
    lastTransitionTime: textAt(condition, 'lastTransitionTime') ?? new Date().toISOString(),
  };
}
