/** Names that the agents and deploy/kubediag.yaml share. */

export const NAMESPACE = 'kubediag';
export const AGENT_ACCOUNT = 'kubediag-agent';

/** As agents name themselves in Events. */
export const AGENT_REPORTER = 'kubediag.org/agent';

/** The one condition of a Node that agents write. */
export const NODE_CONDITION = 'NodeFault';

/** The claim of a service account token that says on which node its pod runs. */
export const NODE_NAME_CLAIM = 'authentication.kubernetes.io/node-name';
