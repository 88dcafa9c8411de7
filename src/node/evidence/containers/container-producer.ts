import type { Container, Sandbox } from './containers.ts';

/** The program that created a container over CRI without a log path, if the container shows it. */
export type Producer = 'keadm-mqtt' | 'keadm-installation' | 'crictl' | 'critest' | 'unknown';

interface Made extends Pick<Container, 'image' | 'name' | 'isKeadmsBroker'> {
  readonly sandbox: Pick<Sandbox, 'podName' | 'podNamespace' | 'podUid'> | undefined;
}

export function producerOf({ image, name, isKeadmsBroker, sandbox }: Made): Producer {
  const { podName = '', podNamespace = '', podUid = '' } = sandbox ?? {};
  if (isKeadmsBroker) return 'keadm-mqtt';
  // Before KubeEdge 1.13 there is no label: container and pod are called mqtt, and the sandbox has
  // no UID.
  if (name === 'mqtt' && podName === 'mqtt' && podUid === '' && BROKER_IMAGE.test(image)) {
    return 'keadm-mqtt';
  }
  if (name === 'container' && podName === 'edgecore' && INSTALLATION_IMAGE.test(image)) {
    return 'keadm-installation';
  }
  if (podUid.startsWith('cri-test-uid') && podNamespace.startsWith('cri-test-namespace')) {
    return 'critest';
  }
  return podUid === UID_OF_CRICTLS_EXAMPLE ? 'crictl' : 'unknown';
}

// docker.io/library/eclipse-mosquitto:1.6.15, registry.example/mirror/eclipse-mosquitto@sha256:4f0c
const BROKER_IMAGE = /(?:^|\/)eclipse-mosquitto(?:[:@]|$)/;

// docker.io/kubeedge/installation-package:v1.16.0
const INSTALLATION_IMAGE = /(?:^|\/)installation-package(?:[:@]|$)/;

/** The uid in the example of crictl's documentation, which users copy. */
const UID_OF_CRICTLS_EXAMPLE = 'hdishd83djaidwnduwk28bcsb';
