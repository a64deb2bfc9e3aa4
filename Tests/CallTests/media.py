#!/usr/bin/env python3
"""A program for sound and pictures on aiortc, for tests: it speaks Protocol/12-media.md.

It sends a tone instead of a microphone, and a word on a data channel; what it hears goes into a
file, as one JSON object that is written anew at each change.

usage: media.py REPORT [--hertz N] [--relay-only]
"""
import argparse
import array
import asyncio
import fractions
import json
import math
import os
import sys
import time

import aioice.ice
import aiortc.rtcicetransport
from aiortc import (
    MediaStreamTrack, RTCConfiguration, RTCIceServer, RTCPeerConnection, RTCSessionDescription)
from aiortc.sdp import candidate_from_sdp
from av import AudioFrame

RATE, SAMPLES = 48000, 960

options = argparse.ArgumentParser()
options.add_argument('report')
options.add_argument('--hertz', type=int, default=440)
options.add_argument('--relay-only', action='store_true')
options = options.parse_args()

if options.relay_only:
    plain = aiortc.rtcicetransport.Connection
    aiortc.rtcicetransport.Connection = lambda *args, **more: plain(
        *args, **{**more, 'transport_policy': aioice.ice.TransportPolicy.RELAY})


def tell(news, **more):
    sys.stdout.write(json.dumps({'news': news, **more}) + '\n')
    sys.stdout.flush()


class Report:
    """What was heard, by leg."""

    def __init__(self):
        self.legs, self.media, self.device = {}, [], ''

    def leg(self, name):
        return self.legs.setdefault(name, {'hertz': 0, 'words': [], 'states': [], 'pair': []})

    def write(self):
        with open(options.report + '.new', 'w') as file:
            json.dump({'device': self.device, 'media': self.media, 'legs': self.legs}, file)
        os.replace(options.report + '.new', options.report)


report = Report()


class Tone(MediaStreamTrack):
    """A sine, silent while the person is muted."""
    kind = 'audio'

    def __init__(self):
        super().__init__()
        self.count, self.begun = 0, None

    async def recv(self):
        self.begun = self.begun or time.time()
        await asyncio.sleep(max(0, self.begun + self.count / RATE - time.time()))
        loud = 12000 if 'microphone' in report.media else 0
        samples = array.array('h', (
            int(loud * math.sin(2 * math.pi * options.hertz * n / RATE))
            for n in range(self.count, self.count + SAMPLES)))
        frame = AudioFrame(format='s16', layout='mono', samples=SAMPLES)
        frame.planes[0].update(samples.tobytes())
        frame.sample_rate, frame.pts = RATE, self.count
        frame.time_base = fractions.Fraction(1, RATE)
        self.count += SAMPLES
        return frame


async def hear(track, leg):
    """The tone by its crossings of zero, a tenth of a second at a time."""
    samples = array.array('h')
    while True:
        try:
            frame = await track.recv()
        except Exception:
            return
        step = len(frame.layout.channels)
        samples.extend(array.array('h', bytes(frame.planes[0])[:frame.samples * 2 * step])[::step])
        if len(samples) >= RATE // 10:
            crossings = sum(1 for a, b in zip(samples, samples[1:]) if a < 0 <= b)
            report.leg(leg)['hertz'] = round(crossings * RATE / len(samples))
            report.write()
            samples = array.array('h')


class Leg:
    """A connection; a new one is made for each offer, since aiortc cannot restart ICE."""

    def __init__(self, name, servers, offers):
        self.name, self.tasks = name, []
        self.peer = peer = RTCPeerConnection(RTCConfiguration(
            [RTCIceServer(**server) for server in servers]))
        channel = peer.createDataChannel('words', negotiated=True, id=0)

        @channel.on('open')
        def opened():
            channel.send('hello from ' + report.device[:8])

        @channel.on('message')
        def said(word):
            report.leg(name)['words'].append(word)
            report.write()

        @peer.on('track')
        def began(track):
            self.tasks.append(asyncio.ensure_future(hear(track, name)))

        @peer.on('connectionstatechange')
        def changed():
            state = peer.connectionState
            report.leg(name)['states'].append(state)
            if state == 'connected':
                report.leg(name)['pair'] = self.pair()
                tell('connected', leg=name)
            elif state == 'failed':
                tell('failed', leg=name)
            report.write()

        peer.addTrack(Tone())

    def pair(self):
        """Which kinds of ways are used, here and there."""
        for sender in self.peer.getSenders():
            for pair in sender.transport.transport._connection._nominated.values():
                return [pair.local_candidate.type, pair.remote_candidate.type]
        return []

    async def close(self):
        self.peer.remove_all_listeners()
        await self.peer.close()


class Program:
    def __init__(self):
        self.legs, self.servers = {}, []

    async def take(self, order):
        name, leg = order.get('leg'), self.legs.get(order.get('leg'))
        kind = order['order']
        if kind == 'begin':
            self.servers = order['servers']
            report.media, report.device = order['media'], order['device']
            report.write()
        elif kind == 'media':
            report.media = order['media']
            report.write()
        elif kind == 'offer':
            leg = await self.anew(name)
            await leg.peer.setLocalDescription(await leg.peer.createOffer())
            tell('offer', leg=name, description=leg.peer.localDescription.sdp)
        elif kind == 'answer':
            leg = await self.anew(name)
            await leg.peer.setRemoteDescription(RTCSessionDescription(order['description'], 'offer'))
            await leg.peer.setLocalDescription(await leg.peer.createAnswer())
            tell('answer', leg=name, description=leg.peer.localDescription.sdp)
        elif kind == 'take' and leg:
            await leg.peer.setRemoteDescription(RTCSessionDescription(order['description'], 'answer'))
        elif kind == 'candidate' and leg and order['candidate']:
            way = candidate_from_sdp(order['candidate'].split(':', 1)[1])
            way.sdpMid, way.sdpMLineIndex = order['part'], order['index']
            await leg.peer.addIceCandidate(way)
        elif kind == 'close' and leg:
            await self.legs.pop(name).close()

    async def anew(self, name):
        if name in self.legs:
            await self.legs.pop(name).close()
        leg = self.legs[name] = Leg(name, self.servers, True)
        return leg


async def main():
    program = Program()
    reader = asyncio.StreamReader(limit=1 << 17)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    tasks = set()
    while line := await reader.readline():
        order = json.loads(line)
        if order['order'] == 'end':
            break
        # A server that does not answer holds up its own leg alone; orders of one leg keep their
        # order because each awaits the one before.
        before = [task for task in tasks if task.get_name() in (order.get('leg'), 'all')]
        task = asyncio.create_task(after(before, program, order), name=order.get('leg') or 'all')
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    for leg in list(program.legs.values()):
        await leg.close()


async def after(before, program, order):
    if before:
        await asyncio.wait(before)
    try:
        await program.take(order)
    except Exception as error:
        tell('failure', reason=f'{type(error).__name__}: {error}'[:300])


asyncio.run(main())
