// Preloaded (node --require) into a program that must manage without the network: every connection that leaves this
// machine fails, as it would without a network.
const net = require('node:net');
const { connect } = net.Socket.prototype;
const atHome = new Set(['127.0.0.1', '::1', 'localhost', undefined]);

net.Socket.prototype.connect = function (...args) {
  const [options] = net._normalizeArgs(Array.isArray(args[0]) ? args[0] : args);
  if (options.path || atHome.has(options.host)) return connect.apply(this, args);
  process.nextTick(() => this.destroy(Object.assign(new Error(`no network: ${options.host}`), { code: 'ENETUNREACH' })));
  return this;
};
