/** What VitePress compiles. */
declare module '*.css';

declare module '*.vue' {
  import type { Component } from 'vue';
  const component: Component;
  export default component;
}

/** Formats a value as Node does. */
declare module 'object-inspect' {
  export default function inspect(value: unknown): string;
}
