import { runCommand } from '../../lab/namespaces.ts';
import {
  makePrivateNamespaces,
  type PrivateNamespaces,
} from '../../test/rig/private-namespaces.ts';
import { CONNECT_NODE, MAKE_SWITCH, nodeNetworkScript } from './network.ts';

/**
 * Connects nodes by a bridge in a network namespace of its own: on a node, the packets of the others would go
 * through its iptables rules. Gives that namespace.
 */
export async function connectNodes(
  nodes: readonly PrivateNamespaces[],
  environment: NodeJS.ProcessEnv,
): Promise<PrivateNamespaces> {
  const connection = await makePrivateNamespaces({ also: ['net'] });
  // Its network alone is entered: in its PID namespace, the processes of the nodes have no number.
  const enter = ['nsenter', '--target', String(connection.pid), '--net', '--'];
  const run = (place: readonly string[], script: string, ...args: readonly string[]) =>
    runCommand([...place, 'env', ...asWords(environment), 'sh', '-c', script, 'sh', ...args]);
  try {
    await run(enter, MAKE_SWITCH);
    for (const [index, node] of nodes.entries()) {
      await run(enter, CONNECT_NODE, String(index), String(node.pid));
      await run(node.enter, nodeNetworkScript(index, nodes.length));
    }
    return connection;
  } catch (error) {
    await connection.stop();
    throw error;
  }
}

function asWords(environment: NodeJS.ProcessEnv): readonly string[] {
  return Object.entries(environment).map(([name, value = '']) => `${name}=${value}`);
}
