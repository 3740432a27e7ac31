import { parseHTML } from 'linkedom';
import { memory } from '../../../src/bindings/memory/index.ts';
import { createClient } from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import { CorrectablesProvider, useCorrectable } from '../../../src/react/index.ts';
import type { StartWalk } from './walk.ts';

/** A component that shows a key that no component has shown before. */
export const startWalk: StartWalk = async () => {
  openPage();
  const { createElement, useEffect } = await import('react');
  const { createRoot } = await importReactDom();
  const client = createClient(memory());
  await client.invoke(put('greeting', 'hello'));
  const root = createRoot(document.body);
  let count = 0;

  const Value = ({ name, onFinal }: { name: string; onFinal: () => void }) => {
    const { final: isFinal } = useCorrectable(get(name));
    useEffect(() => {
      if (isFinal) onFinal();
    }, [isFinal, onFinal]);
    return null;
  };
  return {
    operation: 'get',
    run: () =>
      new Promise<void>((resolve) => {
        count += 1;
        const name = `key ${count}`;
        const value = createElement(Value, { key: name, name, onFinal: resolve });
        root.render(createElement(CorrectablesProvider, { client }, value));
      }),
    close: async () => {
      root.unmount();
      await client.close();
    },
  };
};

/** React recommends its tools when it loads. */
async function importReactDom() {
  const { info } = console;
  console.info = () => {};
  try {
    return await import('react-dom/client');
  } finally {
    console.info = info;
  }
}

function openPage(): void {
  const { window } = parseHTML('<html><body></body></html>');
  Object.assign(window, { location: new URL('https://page.test/') });
  Object.defineProperties(globalThis, {
    window: { value: window, configurable: true },
    document: { value: window.document, configurable: true },
    navigator: { value: window.navigator, configurable: true },
  });
}
