/** For test suites: finds what a function leaves open. */
export { expectNoLeaks, findLeaks, type Leak, LeakError, type LeakOptions } from './leaks';
