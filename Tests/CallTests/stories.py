#!/usr/bin/env python3
"""Calls between real nodes with real WebRTC: Parley brings them about, aiortc makes the sound.

Each story runs `parley` processes, answers the ring at once, and believes nothing but what was heard:
the other's tone, and a word on a data channel. What this machine cannot do is left out with a word.

usage: stories.py PARLEY [STORY…]
"""
import contextlib
import json
import os
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PARLEY, PATIENCE = sys.argv[1], 60
HERTZ = {'ada': 440, 'ben': 700, 'cleo': 1000}
SECRET = 'squeamish ossifrage'


class Skip(Exception):
    """This machine cannot play the story."""


def wait(what, condition, seconds=PATIENCE):
    """Asks again until it is so: the programs tell files, not us."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f'{what}: not within {seconds} s')


class Client:
    """One connection to a node's socket."""

    def __init__(self, home):
        # The path of a socket is short; a folder's descriptor makes it so anywhere.
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(os.path.join(home, 'socket'))
        self.answers, self.changes, self.number = queue.Queue(), queue.Queue(), 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.socket.makefile('r', encoding='utf-8'):
            value = json.loads(line)
            if value.get('method') == 'change':
                self.changes.put((time.monotonic(), value['params']))
            else:
                self.answers.put(value)

    def ask(self, method, **parameters):
        self.number += 1
        question = {'jsonrpc': '2.0', 'id': self.number, 'method': method, 'params': parameters}
        self.socket.sendall(json.dumps(question).encode() + b'\n')
        answer = self.answers.get(timeout=PATIENCE)
        if 'error' in answer:
            raise AssertionError(f'{method}: {answer["error"]}')
        return answer['result']

    def call(self, suits, seconds=PATIENCE):
        """The next change of a call that suits, and when it was told."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                moment, change = self.changes.get(timeout=left)
            except queue.Empty:
                break
            if change['kind'] != 'call':
                continue
            if suits(change['call']):
                return moment, change['call']
            if change['call']['state'] == 'ended':
                raise AssertionError('the call ended: ' + change['call'].get('reason', '?'))
        raise AssertionError(f'no such change of a call within {seconds} s')


class Node:
    """A node in a process of its own, with an aiortc program."""

    def __init__(self, world, name, namespace=None, relay_only=False):
        self.name, self.home = name, os.path.join(world.folder, name)
        self.report = self.home + '.heard'
        self.into = ['ip', 'netns', 'exec', namespace] if namespace else []
        self.world, self.process = world, None
        self.run('init', '--name', name.split('-')[0].capitalize())
        self.equip(relay_only)

    def equip(self, relay_only=False):
        self.run('calls', 'media', '--', sys.executable, os.path.join(HERE, 'media.py'),
                 self.report, '--hertz', str(HERTZ[self.name.split('-')[0]]),
                 *(['--relay-only'] if relay_only else []))

    def run(self, *words):
        done = subprocess.run([*self.into, PARLEY, *words], stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, env={**os.environ, 'PARLEY_HOME': self.home})
        assert done.returncode == 0, f'parley {words}: {done.stderr}{done.stdout}'
        return done.stdout

    def start(self, *options):
        log = open(self.home + '.log', 'a')
        self.process = subprocess.Popen(
            [*self.into, PARLEY, 'run', '--home', self.home, '--no-lan', *options],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.world.processes.append(self.process)
        wait(f'{self.name} runs', lambda: 'Ctrl-C' in open(self.home + '.log').read())
        self.client, self.follower = Client(self.home), Client(self.home)
        self.follower.ask('follow')

    def heard(self):
        try:
            return json.load(open(self.report))
        except (FileNotFoundError, ValueError):
            return {'legs': {}}

    def hears(self, other):
        """Whether the other's own tone comes in, and their word came."""
        for leg in self.heard()['legs'].values():
            right = abs(leg['hertz'] - HERTZ[other.name.split('-')[0]]) < 20
            if right and 'hello from ' + other.device[:8] in leg['words']:
                return leg
        return None


class World:
    def __init__(self):
        self.folder, self.processes = tempfile.mkdtemp(prefix='parley-calls-'), []
        self.namespaces = []

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
        for name in self.namespaces:
            subprocess.run(['ip', 'netns', 'del', name], stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def spawn(self, words, log):
        process = subprocess.Popen(words, stdout=open(os.path.join(self.folder, log), 'w'),
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def namespace(self, folk):
        name = f'parley-{os.getpid()}-{folk}'
        made = subprocess.run(['ip', 'netns', 'add', name], capture_output=True, text=True)
        if made.returncode:
            raise Skip('no network namespaces here: ' + made.stderr.strip())
        self.namespaces.append(name)
        must('ip', '-n', name, 'link', 'set', 'lo', 'up')
        return name

    def join(self, one, here, other, there):
        must('ip', '-n', one, 'link', 'add', 'to' + there, 'type', 'veth',
             'peer', 'name', 'to' + here, 'netns', other)
        for name, device, address in ((one, 'to' + there, here), (other, 'to' + here, there)):
            must('ip', '-n', name, 'addr', 'add', address + '/24', 'dev', device)
            must('ip', '-n', name, 'link', 'set', device, 'up')


def must(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    assert done.returncode == 0, f'{words}: {done.stderr}'


def acquaint(one, other):
    """Makes two running nodes contacts."""
    link = one.client.ask('invite', hours=1)['link']
    other.client.ask('accept', link=link)
    for node, friend in ((one, other), (other, one)):
        node.device = node.client.ask('status')['device']
        wait(f'{node.name} knows {friend.name}', lambda: any(
            c['name'] == friend.name.capitalize() for c in node.client.ask('conversations')))
        wait(f'{node.name} is linked', lambda: node.client.ask('status')['links'])


def talk(caller, callee, patience=PATIENCE):
    """A call that is answered at once; returns how many milliseconds until both are connected."""
    begun = time.monotonic()
    caller.client.ask('call', conversation=callee.name, media=['microphone'])
    rung, call = callee.follower.call(lambda c: c['state'] == 'ringing')
    callee.client.ask('answer', call=call['call'], media=['microphone'])
    answered = time.monotonic()
    moments = [node.follower.call(lambda c: any(
        m.get('connection') == 'connected' for m in c['members']), patience)[0]
        for node in (caller, callee)]
    for node, other in ((caller, callee), (callee, caller)):
        wait(f'{node.name} hears {other.name}', lambda: node.hears(other))
    print(f'  rings after {(rung - begun) * 1000:.0f} ms, connected '
          f'{(max(moments) - answered) * 1000:.0f} ms after the answer and '
          f'{(max(moments) - begun) * 1000:.0f} ms after the call', flush=True)
    return call['call']


def hang_up(node, *others):
    node.client.ask('hangUp')
    for other in others:
        _, call = other.follower.call(lambda c: c['state'] == 'ended')
        assert call['reason'], call
        print(f'  {other.name}: {call["reason"]}', flush=True)
    # A program that hung would hold up the next call.
    wait('no call goes on', lambda: not any(n.client.ask('calls') for n in (node, *others)))


def direct(world):
    """Two on one machine talk, mute, hang up, and talk again the other way round."""
    ada, ben = Node(world, 'ada'), Node(world, 'ben')
    for node in (ada, ben):
        node.start('--listen', '127.0.0.1:0')
    acquaint(ada, ben)
    talk(ada, ben)
    ada.client.ask('setMedia', media=[])
    wait('silence', lambda: all(l['hertz'] == 0 for l in ben.heard()['legs'].values()))
    ben.follower.call(lambda c: any(m['name'] == 'Ada' and not m['media'] for m in c['members']))
    hang_up(ben, ada)
    for node in (ada, ben):
        os.remove(node.report)
    talk(ben, ada)
    hang_up(ben, ada)


def relayed(world):
    """Two whose networks do not reach each other talk through coturn; a Parley relay joins them."""
    turnserver = shutil.which('turnserver')
    if not turnserver:
        raise Skip('no coturn here')
    middle = world.namespace('mid')
    places = {name: world.namespace(name) for name in ('ada', 'ben')}
    world.join(middle, '10.71.0.1', places['ada'], '10.71.0.2')
    world.join(middle, '10.72.0.1', places['ben'], '10.72.0.2')
    # Each sees the servers' other address too, and nothing is passed on between the two.
    must('ip', '-n', middle, 'addr', 'add', '10.70.0.1/32', 'dev', 'lo')
    for name, gateway in (('ada', '10.71.0.1'), ('ben', '10.72.0.1')):
        must('ip', '-n', places[name], 'route', 'add', 'default', 'via', gateway)
    must('ip', 'netns', 'exec', middle, 'sysctl', '-qw', 'net.ipv4.ip_forward=0')
    world.spawn(
        ['ip', 'netns', 'exec', middle, turnserver, '-n', '--listening-ip', '10.70.0.1',
         '--relay-ip', '10.70.0.1', '--use-auth-secret', '--static-auth-secret', SECRET,
         '--realm', 'calls.test', '--no-cli', '--no-tls', '--no-dtls', '--log-file', 'stdout',
         '--pidfile', os.path.join(world.folder, 'turn.pid'),
         '--userdb', os.path.join(world.folder, 'turn.db')], 'turn')
    world.spawn(
        ['ip', 'netns', 'exec', middle, PARLEY, 'relay', 'run', '--home',
         os.path.join(world.folder, 'relay'), '--listen', '10.70.0.1:7448'], 'relay.log')
    text = wait('the relay runs', lambda: next(
        (w for w in open(os.path.join(world.folder, 'relay.log')).read().split()
         if w.startswith('parley-relay:1:')), None) if os.path.isfile(
             os.path.join(world.folder, 'relay.log')) else None)
    ada, ben = (Node(world, name, places[name], relay_only=True) for name in ('ada', 'ben'))
    secret = os.path.join(world.folder, 'secret')
    with open(secret, 'w') as file:
        file.write(SECRET + '\n')
    for node in (ada, ben):
        node.run('relays', 'add', text)
        node.run('calls', 'turn', 'add', 'turn:10.70.0.1:3478', '--secret-file', secret)
        node.start('--no-listen')
    acquaint(ada, ben)
    talk(ada, ben)
    for node, other in ((ada, ben), (ben, ada)):
        pair = node.hears(other)['pair']
        assert pair == ['relay', 'relay'], pair
    print('  both ends are relayed', flush=True)
    hang_up(ada, ben)


def lossy(world):
    """Two talk over a line that loses every twentieth packet of sound."""
    if not shutil.which('nft'):
        raise Skip('no nft here')
    places = {name: world.namespace(name) for name in ('ada', 'ben')}
    world.join(places['ada'], '10.73.0.1', places['ben'], '10.73.0.2')

    def lose(percent):
        rules = f'''flush ruleset
            table inet loss {{
                chain in {{
                    type filter hook input priority 0;
                    meta l4proto udp numgen random mod 100 < {percent} drop
                }}
            }}
        '''
        for place in places.values():
            must('ip', 'netns', 'exec', place, 'nft', '-f', '-', input=rules)
    try:
        lose(5)
    except AssertionError as error:
        raise Skip(f'no packets can be lost here: {error}')
    ada, ben = (Node(world, name, places[name]) for name in ('ada', 'ben'))
    ada.start('--listen', '10.73.0.1:7447')
    ben.start('--listen', '10.73.0.2:7447')
    acquaint(ada, ben)
    talk(ada, ben)
    hang_up(ada, ben)


def three(world):
    """Three in a group talk as a mesh; one goes, and the other two talk on."""
    nodes = ada, ben, cleo = [Node(world, name) for name in ('ada', 'ben', 'cleo')]
    for node in nodes:
        node.start('--listen', '127.0.0.1:0')
    acquaint(ada, ben)
    acquaint(ada, cleo)
    for node in (ben, cleo):
        node.client.ask('setAdditionPolicy', policy='contacts')
    ada.client.ask('newConversation', name='trip', members=['Ben', 'Cleo'])
    for node in (ben, cleo):
        wait(f'{node.name} is in', lambda: any(
            c['name'] == 'trip' and len(c['members']) == 3
            for c in node.client.ask('conversations')))
    wait('ben and cleo are linked', lambda: len(ben.client.ask('status')['links']) > 1)
    begun = time.monotonic()
    ada.client.ask('call', conversation='trip', media=['microphone'])
    for node in (ben, cleo):
        _, call = node.follower.call(lambda c: c['state'] == 'ringing')
        node.client.ask('answer', call=call['call'], media=['microphone'])
    for node in nodes:
        for other in nodes:
            if other is not node:
                wait(f'{node.name} hears {other.name}', lambda: node.hears(other))
    print(f'  everybody hears everybody {(time.monotonic() - begun) * 1000:.0f} ms after the call',
          flush=True)
    ada.client.ask('hangUp')
    wait('two are left', lambda: [
        len(c['members']) for c in ben.client.ask('calls')] == [2])
    os.remove(ben.report)
    wait('they talk on', lambda: ben.heard().get('legs', {}).get(
        cleo.device, {}).get('hertz', 0) > 900)
    hang_up(ben, cleo)


def devices(world):
    """Three devices of one person ring; one answers, and the others stop."""
    ada, ben = Node(world, 'ada'), Node(world, 'ben')
    for node in (ada, ben):
        node.start('--listen', '127.0.0.1:0')
    acquaint(ada, ben)
    more = []
    for name in ('ben-phone', 'ben-pad'):
        text = ben.client.ask('openLink')['text']
        home = os.path.join(world.folder, name)
        node = Node.__new__(Node)
        node.name, node.home, node.report, node.into = name, home, home + '.heard', []
        node.world, node.process = world, None
        node.run('device', 'accept-link', text, '--name', name)
        node.equip()
        node.start('--listen', '127.0.0.1:0')
        more.append(node)
    for node in more:
        wait(f'{node.name} is linked with ada', lambda: any(
            l['name'] == 'Ada' for l in node.client.ask('status')['links']))
    wait('ada is linked with all', lambda: len(ada.client.ask('status')['links']) == 3)
    begun = time.monotonic()
    ada.client.ask('call', conversation='ben', media=['microphone'])
    rings = [node.follower.call(lambda c: c['state'] == 'ringing') for node in (ben, *more)]
    print('  three devices ring after ' + ', '.join(
        f'{(moment - begun) * 1000:.0f}' for moment, _ in rings) + ' ms', flush=True)
    answered = time.monotonic()
    more[0].client.ask('answer', media=['microphone'])
    stops = [node.follower.call(lambda c: c.get('end') == 'answered-elsewhere')[0]
             for node in (ben, more[1])]
    late = [(moment - answered) * 1000 for moment in stops]
    print('  two stop ' + ', '.join(f'{ms:.0f}' for ms in late) + ' ms after the answer (at most '
          '200)', flush=True)
    assert max(late) < float(os.environ.get('PARLEY_CALLS_STOP_MS', '200')), late
    hang_up(ada, more[0])


def main():
    stories = {story.__name__: story for story in (direct, devices, three, relayed, lossy)}
    failed = []
    for name in sys.argv[2:] or stories:
        world, begun = World(), time.monotonic()
        print(f'{name}: {stories[name].__doc__}', flush=True)
        try:
            stories[name](world)
            print(f'  ok, {time.monotonic() - begun:.1f} s', flush=True)
        except Skip as reason:
            print(f'  left out: {reason}', flush=True)
        except Exception as error:
            failed.append(name)
            print(f'  failed: {type(error).__name__}: {error}', flush=True)
            for log in sorted(os.listdir(world.folder)):
                path = os.path.join(world.folder, log)
                if os.path.isfile(path) and log != 'secret' and os.path.getsize(path) < 1 << 20:
                    with contextlib.suppress(UnicodeDecodeError), open(path) as file:
                        print(f'  -- {log}\n{file.read()[-2000:]}', flush=True)
        finally:
            world.close()
    if failed:
        sys.exit('failed: ' + ', '.join(failed))


main()
