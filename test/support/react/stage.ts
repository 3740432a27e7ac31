/**
 * A page for one scenario of `correctables/react`: it runs in a real browser, and in Node on a
 * small DOM.
 */
import {
  Component,
  createElement as h,
  StrictMode,
  Suspense,
  useInsertionEffect,
  type ReactNode,
} from 'react';
import { createRoot, hydrateRoot, type Root } from 'react-dom/client';
import {
  createClient,
  type Client,
  type CorrectableError,
  type Operation,
  type View,
} from '../../../src/index.ts';
import {
  CorrectablesProvider,
  useCorrectable,
  type CorrectablesProviderProps,
} from '../../../src/react/index.ts';
import { scriptedBinding, type ScriptedBinding } from '../../../src/testing/scripted-binding.ts';

export const LEVELS = ['weak', 'causal', 'strong'] as const;
export type StageLevels = typeof LEVELS;

/** How long a scenario waits for what it expects, in milliseconds. */
const PATIENCE_MS = 30_000;

export interface PageOptions extends Partial<CorrectablesProviderProps> {
  /** Whether there is a provider. Default: true */
  readonly isProvided?: boolean;
}

export interface Stage {
  readonly binding: ScriptedBinding<StageLevels>;
  readonly client: Client<StageLevels>;
  readonly element: HTMLElement;
  /** What components have committed, by `Shown` and others that call `useLog`. */
  readonly log: string[];
  readonly provider: Omit<CorrectablesProviderProps, 'client' | 'children'>;
  /** Renders below a provider, an error boundary and a `Suspense` boundary. */
  render(node: ReactNode, options?: PageOptions): void;
  hydrate(html: string, node: ReactNode): void;
  unmount(): void;
  text(): string;
  /** Waits until the page has this text. */
  shows(text: string): Promise<void>;
  close(): Promise<void>;
}

export function openStage(): Stage {
  const binding = scriptedBinding(LEVELS, { hasSessions: true });
  const client = createClient(binding);
  const element = document.createElement('div');
  document.body.append(element);
  let root: Root | undefined;
  const stage: Stage = {
    binding,
    client,
    element,
    log: [],
    provider: {},
    render(node, options) {
      root ??= createRoot(element, {
        onCaughtError: () => {},
        onRecoverableError: () => {},
      } as object);
      root.render(page(client, node, options));
    },
    hydrate(html, node) {
      element.innerHTML = html;
      root = hydrateRoot(element, page(client, node), {
        onRecoverableError: (error) => stage.log.push(`mismatch: ${String(error)}`),
      });
    },
    unmount: () => root?.render(null),
    text: () => element.textContent ?? '',
    shows: (text) =>
      until(
        () => stage.text() === text,
        () => `the page shows "${stage.text()}", not "${text}"`,
      ),
    async close() {
      root?.unmount();
      element.remove();
      // An update goes on without its component, and would end once the page of the test file is
      // gone.
      await client.close();
    },
  };
  return stage;
}

export function page(
  client: Client<StageLevels>,
  node: ReactNode,
  { isProvided = true, ...options }: PageOptions = {},
): ReactNode {
  const children = h(Boundary, null, h(Suspense, { fallback: 'loading' }, node));
  return isProvided ? h(CorrectablesProvider, { client, ...options, children }) : children;
}

export const strict = (node: ReactNode): ReactNode => h(StrictMode, null, node);

/** Waits until `isSo` returns true. */
export async function until(
  isSo: () => boolean,
  describe: () => string = () => String(isSo),
): Promise<void> {
  const from = Date.now();
  while (!isSo()) {
    if (Date.now() - from > PATIENCE_MS) throw new Error(`waited in vain: ${describe()}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Lets everything run that is due. */
export async function idle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}

export function same(actual: unknown, expected: unknown): void {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (left !== right) throw new Error(`got ${left}, not ${right}`);
}

/** Notes what a component has committed. */
export function useLog(stage: Stage, text: string): void {
  useInsertionEffect(() => {
    if (stage.log.at(-1) !== text) stage.log.push(text);
  });
}

export function format(
  view: View<unknown, readonly [string, ...string[]], string> | undefined,
): string {
  if (!view) return 'nothing';
  return `${JSON.stringify(view.value)} ${view.level}${view.final ? '' : '…'}`;
}

export interface ShownProps {
  readonly stage: Stage;
  readonly operation: Operation | null;
  readonly until?: StageLevels[number] | undefined;
  readonly keepMs?: number | undefined;
  readonly suspend?: boolean | undefined;
}

/** Shows the view of a read, with the code of its error. */
export function Shown({ stage, operation, ...options }: ShownProps): ReactNode {
  const result = useCorrectable(operation, options);
  const { view, error } = result;
  const text = `${format(view)}${!view && result.pending ? '…' : ''}${error ? ` ${error.code}` : ''}`;
  useLog(stage, text);
  return text;
}

interface BoundaryState {
  readonly error?: CorrectableError | undefined;
}

/** Shows the code of an error, with a button that tries again. */
export class Boundary extends Component<{ readonly children: ReactNode }, BoundaryState> {
  override state: BoundaryState = {};
  static getDerivedStateFromError(error: CorrectableError): BoundaryState {
    return { error };
  }
  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    const onClick = (): void => this.setState({ error: undefined });
    return h('button', { onClick }, `caught ${error.code ?? error.message}`);
  }
}
