/** How a user gets a temporary credential for the kubelet's debugging pages, and deletes it. */

const NAME = 'kubediag-debug';
const FILE = '/run/kubediag-token';

export const NEEDS_CREDENTIAL =
  'it requires a credential with access to nodes/proxy: pass --kubelet-token-file, or --kubelet-cert ' +
  'and --kubelet-key';

/** The same, with the place of the commands. */
export function credentialAdvice(): string {
  return `${NEEDS_CREDENTIAL}; how to make one for an hour: kubediag stacks`;
}

/** The commands that create, use and delete the credential. */
export function credentialSteps(): readonly string[] {
  return [
    '# where kubectl works, as an administrator of the cluster: make it',
    `kubectl -n kube-system create serviceaccount ${NAME}`,
    `kubectl create clusterrole ${NAME} --verb=get --resource=nodes/proxy,nodes/metrics,nodes/log,nodes/stats`,
    `kubectl create clusterrolebinding ${NAME} --clusterrole=${NAME} --serviceaccount=kube-system:${NAME}`,
    `kubectl -n kube-system create token ${NAME} --duration=1h`,
    '# on this node: paste the token, then ask again',
    `umask 077; cat > ${FILE}`,
    `kubediag stacks --kubelet-token-file ${FILE}`,
    '# afterwards: take it away',
    `rm ${FILE}`,
    `kubectl delete clusterrolebinding/${NAME} clusterrole/${NAME}`,
    `kubectl -n kube-system delete serviceaccount ${NAME}`,
  ];
}

/** Kubernetes before 1.24 has no `create token`: there a Secret holds the token. */
export function oldCredentialSteps(): readonly string[] {
  return [
    `kubectl -n kube-system get secret "$(kubectl -n kube-system get serviceaccount ${NAME} \\`,
    `  -o jsonpath='{.secrets[0].name}')" -o jsonpath='{.data.token}' | base64 -d`,
  ];
}

export const WITHOUT_API_SERVER =
  'While the API server cannot be reached, the kubelet cannot check such a token and refuses it; a ' +
  'client certificate still works. Without either, kubediag check reads what the kernel shows of the ' +
  "kubelet's threads (/proc), which needs no credential.";
