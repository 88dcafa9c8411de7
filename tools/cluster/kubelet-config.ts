import { type KubeletSettings, kubeletSettings } from '../../lab/real-kubelet/lab-kubelet.ts';
import type { Identity } from './certificates.ts';

/** As in production: nobody is served unknown, and the API server says who may do what. */
export function clusterKubelet(
  version: string,
  { authority, kubelet }: { readonly authority: Identity; readonly kubelet: Identity },
): KubeletSettings {
  return kubeletSettings(version, {
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: authority.certificate },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: kubelet.certificate,
    tlsPrivateKeyFile: kubelet.key,
    clusterDomain: 'cluster.local',
  });
}
