import AVFoundation
import OunceApp
import SwiftUI

/// One second of sound after the other, answered by the model.
final class Listener: ObservableObject {
    @Published var word = "…"
    private let engine = AVAudioEngine()
    private var call: Call?

    func start() {
        do {
            let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
            guard let model = Bundle.main.path(forResource: "hearing", ofType: "onnx") else { return }
            let session = try Session(path: model, options: .init(cache: caches.path, requiresContract: true))
            call = try session.call()
            try listen(rate: 8000)
        } catch {
            word = "\(error)"
        }
    }

    private func listen(rate: Double) throws {
        let input = engine.inputNode
        guard let wanted = AVAudioFormat(commonFormat: .pcmFormatFloat32, sampleRate: rate, channels: 1, interleaved: false),
              let converter = AVAudioConverter(from: input.outputFormat(forBus: 0), to: wanted) else { return }
        var second: [Float] = []
        input.installTap(onBus: 0, bufferSize: 4096, format: nil) { [weak self] buffer, _ in
            let room = AVAudioFrameCount(Double(buffer.frameLength) * rate / buffer.format.sampleRate) + 1
            guard let made = AVAudioPCMBuffer(pcmFormat: wanted, frameCapacity: room) else { return }
            var isGiven = false
            converter.convert(to: made, error: nil) { _, status in
                status.pointee = isGiven ? .noDataNow : .haveData
                isGiven = true
                return buffer
            }
            second += UnsafeBufferPointer(start: made.floatChannelData?[0], count: Int(made.frameLength))
            if second.count >= Int(rate) {
                self?.answer(Array(second.prefix(Int(rate))))
                second.removeAll()
            }
        }
        try engine.start()
    }

    private func answer(_ samples: [Float]) {
        guard let call = call else { return }
        let text: String
        do {
            try call.withInput("audio", as: Float.self) { input in
                for (place, sample) in samples.prefix(input.count).enumerated() { input[place] = sample }
            }
            try call.run(nanoseconds: 100_000_000)
            let scores = try call.output("logits", as: Float.self)
            text = "word \(scores.indices.max { scores[$0] < scores[$1] } ?? 0)"
        } catch {
            text = "\(error)"
        }
        DispatchQueue.main.async { self.word = text }
    }
}

struct HearingView: View {
    @StateObject private var listener = Listener()

    var body: some View {
        Text(listener.word).font(.largeTitle).onAppear { listener.start() }
    }
}
