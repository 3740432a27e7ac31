/** The headless Chromium of tests and benchmarks. */
export { launchChromium } from '../../bench/harness/chromium.ts';
